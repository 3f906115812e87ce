package stamp_test

import (
	"os"
	"testing"
	"time"

	"github.com/docket-go/docket/lock/stamp"
)

// Every change of a name in the directory, and of its own, shows at once.
func TestChangesShow(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"an entry is added":    func(dir string) error { return os.WriteFile(dir+"/b", nil, 0o600) },
		"an entry is removed":  func(dir string) error { return os.Remove(dir + "/a") },
		"an entry is renamed":  func(dir string) error { return os.Rename(dir+"/a", dir+"/b") },
		"an entry is moved":    func(dir string) error { return os.Rename(dir+"/a", dir+"-a") },
		"an entry is linked":   func(dir string) error { return os.Link(dir+"/a", dir+"/b") },
		"a directory is made":  func(dir string) error { return os.Mkdir(dir+"/b", 0o700) },
		"an entry is replaced": func(dir string) error { return os.Rename(dir+"-new", dir+"/a") },
		"it is renamed":        func(dir string) error { return os.Rename(dir, dir+"-away") },
		"it is removed":        os.RemoveAll,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir() + "/d"
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{dir + "/a", dir + "-new"} {
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			d, m := marked(t, dir)
			words := settled(t, d)
			if err := os.WriteFile(dir+"/a", []byte("more"), 0o600); err != nil {
				t.Fatal(err)
			}
			if again, _ := d.Moment(); !m.Stands(d, 0) || again != words {
				t.Fatal("got a change where only a file was written, or nothing")
			}
			if err := change(dir); err != nil {
				t.Fatal(err)
			}
			if again, _ := d.Moment(); m.Stands(d, 0) || again == words {
				t.Fatal("got no change")
			}
		})
	}
}

func TestLookIsBelievedForAWhile(t *testing.T) {
	d, m := marked(t, t.TempDir())
	if m.Stands(d, time.Nanosecond) || !m.Stands(d, time.Hour) {
		t.Fatal("got the age of the look passed over")
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if m.Stands(d, 0) {
		t.Fatal("got a mark that stands in a closed directory")
	}
	other, err := stamp.Open(t.TempDir()) // is given the number of the closed one
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if m.Stands(d, 0) {
		t.Fatal("got a mark that stands in another directory")
	}
}

// A change that is just over could be followed by another in the same tick.
func TestFreshChangeIsNotTrusted(t *testing.T) {
	dir := t.TempDir()
	d, err := stamp.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	d.SetDistinct(false)
	before := time.Now()
	if err := os.WriteFile(dir+"/a", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var m stamp.Mark
	m.Look(d)
	if stands := m.Stands(d, 0); stands && time.Since(before) < stamp.Tick/2 {
		t.Fatal("got a stamp trusted that is as old as the look")
	}
}

// Words that are settled are of before the tick in which the clock is.
func TestMomentSettles(t *testing.T) {
	dir := t.TempDir()
	d, _ := marked(t, dir)
	before := time.Now()
	if err := os.WriteFile(dir+"/a", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if words, settled := d.Moment(); settled && time.Since(before) < stamp.Tick {
		t.Fatalf("got %q for settled at once", words)
	}
	words := settled(t, d)
	other, err := stamp.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if got := settled(t, other); got != words {
		t.Fatalf("got %q and %q of one directory", got, words)
	}
}

// settled asks for the moment until it is settled.
func settled(t *testing.T, d *stamp.Dir) string {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(time.Minute); ; {
		if words, settled := d.Moment(); settled {
			return words
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("never: the moment is settled")
		}
	}
}

// Where the system tells all changes apart, each shows, however fast they come.
func TestFastChangesShow(t *testing.T) {
	dir := t.TempDir()
	d, err := stamp.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if !d.Trusted() || !stamp.Distinct() {
		t.Skip("this system does not tell all changes apart")
	}
	var m stamp.Mark
	for i := range 5000 {
		if m.Look(d); !m.Stands(d, 0) {
			t.Fatalf("change %d: got a look that does not stand", i)
		}
		path := dir + "/a"
		switch i % 3 {
		case 0:
			err = os.WriteFile(path, nil, 0o600)
		case 1:
			err = os.Rename(path, path+"2")
		case 2:
			err = os.Remove(path + "2")
		}
		if err != nil {
			t.Fatal(err)
		}
		if m.Stands(d, 0) {
			t.Fatalf("change %d: got no change", i)
		}
	}
}

func TestSymbolicLinkIsNotFollowed(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(dir, dir+"/link"); err != nil {
		t.Skip(err)
	}
	if d, err := stamp.Open(dir + "/link"); err == nil {
		if d.Trusted() {
			t.Error("got a symbolic link opened")
		}
		d.Close()
	}
}

// marked looks until the mark stands.
func marked(t testing.TB, dir string) (*stamp.Dir, *stamp.Mark) {
	t.Helper()
	d, err := stamp.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if !d.Trusted() {
		t.Skip("the file system is not known to stamp its directories")
	}
	m := &stamp.Mark{}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(time.Minute); !m.Stands(d, 0); m.Look(d) {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("never: the mark stands")
		}
	}
	return d, m
}
