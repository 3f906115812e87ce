package doctor_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/dispatch/doctor"
)

func TestFileSystems(t *testing.T) {
	const gib = 1 << 30
	roomy := doctor.Volume{Kind: "ext4", Free: 50 * gib, Bytes: 100 * gib, FreeInodes: 900_000, Inodes: 1_000_000}
	for _, tt := range map[string]struct {
		change func(v *doctor.Volume)
		check  string
		level  doctor.Level
		part   string
	}{
		"known":           {func(v *doctor.Volume) {}, "filesystem", doctor.OK, "ext4"},
		"network":         {func(v *doctor.Volume) { v.Kind, v.Remote = "nfs", true }, "filesystem", doctor.Note, "network"},
		"memory":          {func(v *doctor.Volume) { v.Kind, v.Memory = "tmpfs", true }, "filesystem", doctor.Note, "when the machine stops"},
		"room":            {func(v *doctor.Volume) {}, "space", doctor.OK, "50.0 GiB of 100.0 GiB free, 900000 of 1000000 inodes free"},
		"no inodes":       {func(v *doctor.Volume) { v.FreeInodes, v.Inodes = 0, 0 }, "space", doctor.OK, "50.0 GiB of 100.0 GiB free"},
		"little room":     {func(v *doctor.Volume) { v.Free = gib / 2 }, "space", doctor.Note, "512.0 MiB"},
		"few inodes":      {func(v *doctor.Volume) { v.FreeInodes = 10_000 }, "space", doctor.Note, "10000 of 1000000 inodes"},
		"no room":         {func(v *doctor.Volume) { v.Free = 1 << 20 }, "space", doctor.Problem, "1.0 MiB"},
		"no inodes left":  {func(v *doctor.Volume) { v.FreeInodes = 3 }, "space", doctor.Problem, "3 of 1000000 inodes"},
		"small and empty": {func(v *doctor.Volume) { v.Free, v.Bytes = 100<<20, 128<<20 }, "space", doctor.OK, "100.0 MiB of 128.0 MiB"},
	} {
		v := roomy
		tt.change(&v)
		findings(doctor.OfVolume(v)).wants(t, tt.check, tt.level, tt.part)
	}
}

// A path is one word for a shell, whatever is in it.
func TestPathsAreQuoted(t *testing.T) {
	for path, want := range map[string]string{
		"/a/b-c_1.d": "/a/b-c_1.d", "/a b": "'/a b'", "/it's": `'/it'\''s'`, "/$(x)": "'/$(x)'", "": "''", "/ü": "'/ü'",
	} {
		if got := doctor.Quoted(path); got != want {
			t.Errorf("%q: got %s, want %s", path, got, want)
		}
	}
}

// put writes a program that can be found.
func put(t testing.TB, dir, name, script string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
}

func TestPrograms(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	w := newWorld(t, "s1") // of the adapter "agent"
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	put(t, dir, "told", `echo "told (the program) 1.2.3, of today"`)
	put(t, dir, "mute", `echo no number here`)
	put(t, dir, "fails", `echo 9.9; exit 3`)
	put(t, dir, "hangs", `exec sleep 1000`)
	put(t, dir, "shouts", `yes 7777777 | head -c 1000000`)
	ask := func(name string) doctor.Program {
		return doctor.Program{Name: name, Version: []string{"--version"}, For: []string{"agent"}, Needed: true}
	}
	all := w.examine(func(o *doctor.Options) {
		o.ProgramWait = 300 * time.Millisecond
		o.Programs = []doctor.Program{
			ask("told"), ask("mute"), ask("fails"), ask("hangs"), ask("shouts"),
			{Name: "told", For: []string{"other"}},
			ask("no-such-program"),
			{Name: "no-other-program", For: []string{"other"}, Needed: true},
			{Name: "no-third-program", For: []string{"agent"}},
		}
	})
	for _, p := range []string{"told", "mute", "fails", "hangs", "shouts"} { // a busy machine may keep each from telling
		all.wants(t, "program", doctor.OK, p, " at "+dir+"/"+p+", for agent")
	}
	all.wants(t, "program", doctor.OK, "told at "+dir+"/told, for other")
	for _, line := range all.of("program") {
		for _, mute := range []string{"mute", "fails", "hangs"} {
			if strings.Contains(line, "/"+mute) && !strings.Contains(line, ": "+mute+" at ") {
				t.Errorf("got %q, want no version", line)
			}
		}
	}
	all.wants(t, "program", doctor.Problem, "no-such-program is not on PATH", "1 session needs it", "command -v no-such-program")
	all.wants(t, "program", doctor.Note, "no-other-program, no-third-program")
}

// A program that has time tells its version.
func TestVersionIsTold(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	w, dir := newWorld(t, "s1"), t.TempDir()
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	put(t, dir, "told", `echo "told (the program) 1.2.3, of today"`)
	put(t, dir, "asks", `read answer; echo "5 $answer"`)
	all := w.examine(func(o *doctor.Options) {
		o.ProgramWait = time.Minute
		o.Programs = []doctor.Program{
			{Name: "told", Version: []string{"--version"}, For: []string{"agent"}}, {Name: "asks", Version: []string{"-V"}, For: []string{"agent"}},
		}
	})
	all.wants(t, "program", doctor.OK, "told 1.2.3 at ")
	all.wants(t, "program", doctor.OK, "asks 5 at ") // it gets no input
}
