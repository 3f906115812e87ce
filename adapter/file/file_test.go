package file_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest"
	"github.com/docket-go/docket/adapter/file"
)

func open(t testing.TB, path string) *file.Adapter {
	t.Helper()
	a, err := file.New(file.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// read returns the prompts in a file as a bridge would: whole lines, strictly.
func read(path string) ([]adapter.Prompt, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var prompts []adapter.Prompt
	for l := range bytes.Lines(data[:bytes.LastIndexByte(data, '\n')+1]) {
		var got struct {
			TS, MID, Session, Text string
			From                   *string
			Attributes             map[string]string
		}
		d := json.NewDecoder(bytes.NewReader(l))
		d.DisallowUnknownFields()
		if err := d.Decode(&got); err != nil {
			return nil, fmt.Errorf("%q: %w", l, err)
		}
		if _, err := time.Parse(time.RFC3339, got.TS); err != nil {
			return nil, err
		}
		p := adapter.Prompt{MID: got.MID, Session: got.Session, Text: got.Text, Attributes: got.Attributes}
		if got.From != nil {
			p.From = *got.From
		}
		prompts = append(prompts, p)
	}
	return prompts, nil
}

func mids(t testing.TB, path string) []string {
	t.Helper()
	prompts, err := read(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, p := range prompts {
		list = append(list, p.MID)
	}
	return list
}

func equal(t testing.TB, what string, got, want []string) {
	t.Helper()
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestConformance(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T) adaptertest.Harness {
		path := filepath.Join(t.TempDir(), "prompts.ndjson")
		aside := path + ".aside"
		return adaptertest.Harness{
			Adapter:  open(t, path),
			Received: func() ([]adapter.Prompt, error) { return read(path) },
			Refuse:   func() error { return errors.Join(os.Rename(path, aside), os.Mkdir(path, 0o700)) },
			Restore:  func() error { return errors.Join(os.Remove(path), os.Rename(aside, path)) },
		}
	})
}

func TestSettings(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	registry := adapter.Registry{file.Kind}
	settled, err := registry.Settle("file", map[string]string{"path": "out.ndjson"})
	if err != nil {
		t.Fatal(err)
	}
	o, err := registry.Open("file", adapter.Session{ID: "s1"}, settled)
	if err != nil {
		t.Fatal(err)
	}
	if o.Policy != adapter.Redeliver || o.Adapter.Headless() {
		t.Errorf("got policy %s, headless %v, want redeliver and false", o.Policy, o.Adapter.Headless())
	}
	t.Chdir(t.TempDir()) // a settled path no longer depends on it
	if err := o.Adapter.Insert(t.Context(), adapter.Prompt{MID: "m1", Text: "x"}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "out.ndjson"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want a file with mode 0600 where the path was settled", info, err)
	}
	o, err = registry.Open("file", adapter.Session{}, map[string]string{"path": "x", "headless": "true", "unconfirmed": "hold"})
	if err != nil || o.Policy != adapter.Hold || !o.Adapter.Headless() {
		t.Errorf("got %+v, %v, want the policy hold and a headless adapter", o, err)
	}
	for _, bad := range []map[string]string{nil, {"path": ""}, {"path": "x", "headless": "maybe"}, {"path": "x", "mode": "0644"}} {
		var setting *adapter.SettingError
		if _, err := registry.Open("file", adapter.Session{}, bad); !errors.As(err, &setting) {
			t.Errorf("%v: got %v, want a SettingError", bad, err)
		}
	}
	if _, err := file.New(file.Options{}); err == nil {
		t.Error("New without a path: got no error, want one")
	}
}

func TestProbe(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "made.ndjson")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]adapter.State{
		path:                              adapter.Idle,
		filepath.Join(dir, "new"):         adapter.Idle, // Insert will make it
		dir:                               adapter.Blocked,
		filepath.Join(dir, "no", "where"): adapter.Gone,
	} {
		a := open(t, p)
		if got, err := a.Probe(t.Context()); got != want {
			t.Errorf("%s: got %s, %v, want %s", p, got, err, want)
		}
		refusal := adapter.Use("file", a).Ready(t.Context())
		if want != adapter.Idle && !strings.Contains(fmt.Sprint(refusal), p[:len(dir)]) {
			t.Errorf("%s: got refusal %v, want one that names the path", p, refusal)
		}
	}
}

func TestWhatTheFormatCannotHoldIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	a := open(t, path)
	for name, p := range map[string]adapter.Prompt{
		"text":      {MID: "m", Text: "\xff"},
		"sender":    {MID: "m", From: "\xff"},
		"attribute": {MID: "m", Attributes: map[string]string{"k": "\xff"}},
		"no mid":    {Text: "x"},
		"long mid":  {MID: strings.Repeat("m", 1025)},
	} {
		if err := a.Insert(t.Context(), p); adapter.AnswerOf(err) != adapter.Refused {
			t.Errorf("%s: got %v, want it refused", name, err)
		}
	}
	equal(t, "file", mids(t, path), nil)
	worst := strings.Repeat("\x01", 1024) // escaped to six bytes each
	if err := a.Insert(t.Context(), adapter.Prompt{MID: worst}); err != nil {
		t.Fatal(err)
	}
	if p, err := a.Lookup(t.Context(), worst); p != adapter.Present {
		t.Errorf("Lookup of the longest mid: got %s, %v, want present", p, err)
	}
}

func TestFailedWriteLeavesNothing(t *testing.T) {
	for _, before := range []string{"", `{"ts":"torn`, "somebody else's\nunfinished"} {
		for _, n := range []int{0, 1, 10} {
			path := filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
			a := open(t, path)
			a.WriteWith(func(f *os.File, l []byte) (int, error) {
				written, err := f.Write(l[:n])
				return written, errors.Join(err, syscall.ENOSPC)
			})
			err := a.Insert(t.Context(), adapter.Prompt{MID: "m1", Text: "x"})
			if adapter.AnswerOf(err) != adapter.Refused || !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("%q, %d bytes written: got %v, want a refusal that is ENOSPC", before, n, err)
			}
			want := strings.TrimPrefix(before, `{"ts":"torn`) // healed before the write
			if got, err := os.ReadFile(path); err != nil || string(got) != want {
				t.Errorf("%q, %d bytes written: got file %q, %v, want %q", before, n, got, err, want)
			}
		}
	}
}

func TestPartThatCannotBeCutOffIsUnconfirmed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	a := open(t, path)
	a.WriteWith(func(f *os.File, l []byte) (int, error) {
		n, _ := f.Write(l[:10])
		f.Close() // so that the truncation fails
		return n, syscall.EIO
	})
	if err := a.Insert(t.Context(), adapter.Prompt{MID: "m1"}); adapter.AnswerOf(err) != adapter.Unconfirmed {
		t.Errorf("got %v, want it unconfirmed", err)
	}
	if p, err := a.Lookup(t.Context(), "m1"); p != adapter.Absent {
		t.Errorf("Lookup: got %s, %v, want absent", p, err)
	}
	again := open(t, path)
	if err := again.Insert(t.Context(), adapter.Prompt{MID: "m1"}); err != nil {
		t.Fatal(err)
	}
	equal(t, "file", mids(t, path), []string{"m1"})
}

func TestAnotherWriterMakesItBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	a, err := file.New(file.Options{Path: path, Wait: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	inside := false
	a.WriteWith(func(f *os.File, l []byte) (int, error) {
		inside = true
		other, err := file.New(file.Options{Path: path, Wait: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Insert(t.Context(), adapter.Prompt{MID: "m2"}); !errors.Is(err, adapter.ErrBusy) {
			t.Errorf("Insert beside a writer: got %v, want ErrBusy", err)
		}
		if p, err := other.Lookup(t.Context(), "m1"); p != adapter.CannotTell || err == nil {
			t.Errorf("Lookup beside a writer: got %s, %v, want cannot tell and the reason", p, err)
		}
		return f.Write(l)
	})
	if err := a.Insert(t.Context(), adapter.Prompt{MID: "m1"}); err != nil || !inside {
		t.Fatalf("got %v, inside %v, want it taken", err, inside)
	}
	equal(t, "file", mids(t, path), []string{"m1"})
}
