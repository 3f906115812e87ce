package doctor

import (
	"bytes"
	"cmp"
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// A Program is one that adapters need on this machine.
type Program struct {
	Name    string   // as it is looked for on PATH
	Version []string // the arguments with which it tells its version; none means that it is not asked
	For     []string // names of adapters

	// Needed: no session of these adapters can do without it. Otherwise another program
	// may stand in for it.
	Needed bool
}

// maxVersions is how many programs are asked at once.
const maxVersions = 4

// programs looks which of the programs are there, and in which version.
func (e *examination) programs() {
	found := make([]string, len(e.Programs))
	versions := make([]string, len(e.Programs))
	var work errgroup.Group
	work.SetLimit(maxVersions)
	for i, p := range e.Programs {
		path, err := exec.LookPath(p.Name)
		if err != nil {
			continue
		}
		found[i] = path
		if len(p.Version) > 0 {
			work.Go(func() error {
				versions[i] = versionOf(e.ctx, e.ProgramWait, path, p.Version)
				return nil
			})
		}
	}
	work.Wait()
	var missing []string
	for i, p := range e.Programs {
		switch users := e.usersOf(p); {
		case found[i] != "":
			e.ok("program", "%s%s at %s, for %s", p.Name, versions[i], found[i], strings.Join(p.For, ", "))
		case p.Needed && users > 0:
			e.problem("program", "command -v "+p.Name, "%s is not on PATH, and %s with the adapter %s: install it, or add its directory to PATH",
				p.Name, needs(users), strings.Join(p.For, ", "))
		default:
			missing = append(missing, p.Name)
		}
	}
	if len(missing) > 0 {
		e.note("program", "", "not on PATH: %s; only sessions whose agent it is need one", strings.Join(missing, ", "))
	}
}

// usersOf counts the sessions whose adapter needs the program.
func (e *examination) usersOf(p Program) (n int) {
	for _, name := range p.For {
		n += e.used[name]
	}
	return n
}

func needs(sessions int) string {
	if sessions == 1 {
		return "1 session needs it"
	}
	return count(sessions, "session") + " need it"
}

// versionOf asks a program for its version; empty means that it did not tell in time.
// It gets no input, and is ended with what it printed so far when the time is up.
func versionOf(ctx context.Context, wait time.Duration, path string, args []string) string {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var said head
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &said, &said, wait
	if err := cmd.Run(); err != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
	words := strings.Fields(line)
	i := slices.IndexFunc(words, func(w string) bool { return strings.ContainsAny(w, "0123456789") })
	if i < 0 || len(words[i]) > 40 {
		return ""
	}
	return " " + cmp.Or(strings.Trim(words[i], "(),"), words[i])
}

// A head keeps the beginning of what is written to it.
type head struct{ bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), max(0, 1024-h.Len()))])
	return len(p), nil
}
