package dispatch_test

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// The power goes at any step of anything. The log keeps what was synced and any part
// of the rest; queue, claim and record lock, which nobody syncs, are each those of any
// earlier moment, or destroyed. What was promised by then holds nevertheless. A
// buffered store promises nothing about its last moments, but what is left is whole:
// the log lacks its end and nothing else.
func TestPowerCut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newPlug(t, rt)
		defer p.Close()
		p.work(rt)
		for range 2 {
			p.cut(rt)
		}
	})
}

// A moment is what the disk may hold between two changes of files, and what was
// promised by then.
type moment struct {
	files    map[string][]byte             // of the session directory, by their path in it
	synced   map[string]int                // how many bytes of a segment are on stable storage
	promised []string                      // mids of the sends that returned
	ended    map[string]dispatch.Condition // by an operation that returned
	got      []string                      // mids that the agent took
}

// A plug is a world that notes each moment.
type plug struct {
	*world
	segmentBytes int64
	lossy        bool // nothing was promised
	moments      []moment
	returns      []int             // the moments at which an operation returned
	order        []string          // all mids, as they were made
	texts        map[string]string // by mid
	keys         map[string]string // key to mid
	text         string            // of the send that is under way
	now          moment
}

func newPlug(t *testing.T, rt *rapid.T) *plug {
	buffered := rapid.Float64Range(0, 1).Draw(rt, "buffered above 0.7") > 0.7
	p := &plug{
		world: &world{t: t, dir: t.TempDir(), agent: &agent{}, buffered: buffered},
		texts: map[string]string{}, keys: map[string]string{},
		now: moment{synced: map[string]int{}, ended: map[string]dispatch.Condition{}},
	}
	if !buffered {
		p.segmentBytes = rapid.SampledFrom([]int64{1500, 0}).Draw(rt, "segment bytes")
	}
	p.open(p.dir)
	p.create("s1")
	return p
}

func (p *plug) open(dir string) {
	if p.Dispatcher != nil {
		must(p.t, p.Close())
	}
	store, err := session.OpenStore(dir, session.Options{Timeline: timeline.Options{Buffered: p.buffered, SegmentBytes: p.segmentBytes}})
	must(p.t, err)
	p.dir, p.store = dir, store
	p.Dispatcher = dispatch.New(store, dispatch.Options{NewMID: p.newMID, Adapters: adapter.Registry{{
		Name: "agent",
		Open: func(adapter.Session, map[string]string) (adapter.Adapter, error) { return p.agent, nil },
	}}})
}

func (p *plug) newMID() (string, error) {
	mid := "m" + strconv.Itoa(len(p.order)+1)
	p.order = append(p.order, mid)
	p.texts[mid] = p.text
	return mid, nil
}

// note keeps the present moment.
func (p *plug) note() {
	m := p.now
	m.files, m.synced = map[string][]byte{}, p.now.synced
	root := p.path("s1", "")
	must(p.t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		m.files[name] = content
		if strings.HasPrefix(name, "timeline") && seesSyncs() && onDisk(p.t, path) {
			m.synced[name] = len(content)
		}
		return err
	}))
	m.synced, m.ended = maps.Clone(m.synced), maps.Clone(m.ended)
	m.promised, m.got = slices.Clone(m.promised), p.agent.mids()
	p.moments = append(p.moments, m)
}

// returned keeps the moment at which an operation returned. Where nobody tells what
// is synced, the operation is believed.
func (p *plug) returned() {
	p.note()
	p.returns = append(p.returns, len(p.moments)-1)
	if last := p.moments[len(p.moments)-1]; !p.buffered && !seesSyncs() {
		for name, content := range last.files {
			if strings.HasPrefix(name, "timeline") {
				p.now.synced[name], last.synced[name] = len(content), len(content)
			}
		}
	}
}

// work does a few random things.
func (p *plug) work(rt *rapid.T) {
	restore := step.Hook(func(string) { p.note() })
	defer restore()
	p.note()
	for range rapid.IntRange(1, 8).Draw(rt, "operations") {
		switch rapid.SampledFrom([]string{"send", "keyed", "drain", "hang", "revoke", "confirm", "die"}).Draw(rt, "do") {
		case "send":
			p.sends(rt, "", "message "+strconv.Itoa(len(p.order)))
		case "keyed":
			key := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "key")
			p.sends(rt, key, "keyed "+key)
		case "drain":
			p.drains(adapter.ErrBusy, rapid.IntRange(0, 3).Draw(rt, "taken"))
		case "hang":
			p.drains(errors.New("lost"), rapid.IntRange(0, 1).Draw(rt, "taken"))
			if rapid.Bool().Draw(rt, "confirmed") {
				p.confirms(rt)
			}
		case "revoke":
			p.ends(rt, dispatch.Revoked, func(mid string) error { return p.Revoke(p.t.Context(), "s1", mid) })
		case "confirm":
			p.confirms(rt)
		case "die":
			p.dies(rt)
		}
		p.returned()
	}
}

func (p *plug) sends(rt *rapid.T, key, text string) string {
	p.text = text
	a, err := p.SendText(p.t.Context(), "s1", dispatch.Message{Text: text, Key: key, NoDrain: true})
	if err != nil {
		rt.Fatal(err)
	}
	if mid, again := p.keys[key]; key != "" && again != a.Replayed || again && mid != a.MID {
		rt.Fatalf("key %s: got %+v, want replayed %v of %q", key, a, again, mid)
	}
	if key != "" {
		p.keys[key] = a.MID
	}
	if !slices.Contains(p.now.promised, a.MID) {
		p.now.promised = append(p.now.promised, a.MID)
	}
	return a.MID
}

// dies is a sender that dies before it has synced what it wrote.
func (p *plug) dies(rt *rapid.T) {
	key := "of a dead sender"
	if p.keys[key] != "" {
		key = ""
	}
	p.text = "keyed of a dead sender"
	inner := step.Hook(func(name string) {
		if p.note(); name == "dispatch: owed" {
			panic(errDied)
		}
	})
	defer inner()
	func() {
		defer func() { recover() }()
		p.SendText(p.t.Context(), "s1", dispatch.Message{Text: p.text, Key: key, NoDrain: true})
	}()
	p.open(p.dir)
	if key == "" {
		return
	}
	p.keys[key] = p.order[len(p.order)-1]
	if rapid.Bool().Draw(rt, "repeated") {
		p.sends(rt, key, p.text)
	}
}

// drains makes a pass that ends after a few messages, or takes all. What is delivered
// of the keyed ones when it returns stays so.
func (p *plug) drains(end error, left int) {
	p.agent.set(func(adapter.Prompt) error {
		p.note()
		if left--; left < 0 {
			return end
		}
		return nil
	})
	defer p.agent.set(nil)
	done, _ := p.Drain(p.t.Context(), "s1", dispatch.DrainOptions{})
	keyed := slices.Collect(maps.Values(p.keys))
	for _, mid := range done.Delivered {
		if slices.Contains(keyed, mid) {
			p.now.ended[mid] = dispatch.Delivered
		}
	}
}

func (p *plug) confirms(rt *rapid.T) {
	p.ends(rt, dispatch.Delivered, func(mid string) error {
		_, err := p.Confirm(p.t.Context(), "s1", mid, false)
		return err
	})
}

// ends decides about a message by do.
func (p *plug) ends(rt *rapid.T, as dispatch.Condition, do func(mid string) error) {
	owed := p.pending("s1")
	if len(owed) == 0 {
		return
	}
	mid := owed[0]
	if as == dispatch.Revoked {
		mid = rapid.SampledFrom(owed).Draw(rt, "which")
	}
	switch err := do(mid); {
	case err == nil:
		p.now.ended[mid] = as
	case !errors.Is(err, dispatch.ErrNotUnconfirmed):
		rt.Fatal(err)
	}
}

// cut lets the power go at one of the moments and goes on with what is left.
func (p *plug) cut(rt *rapid.T) {
	at := rapid.IntRange(0, len(p.moments)-1).Draw(rt, "moment")
	if rapid.Bool().Draw(rt, "after an operation") {
		at = rapid.SampledFrom(p.returns).Draw(rt, "moment")
	}
	left := p.left(rt, at)
	dir := p.t.TempDir()
	for name, content := range left {
		path := filepath.Join(dir, "sessions", "s1", name)
		must(p.t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(p.t, os.WriteFile(path, content, 0o600))
	}
	after := &plug{
		world: &world{t: p.t, dir: dir, agent: &agent{}, buffered: true}, segmentBytes: p.segmentBytes,
		order: slices.Clone(p.order), texts: maps.Clone(p.texts), keys: maps.Clone(p.keys), now: p.moments[at],
		lossy: p.buffered,
	}
	after.open(dir)
	defer after.Close()
	if after.lossy {
		after.now.promised, after.now.ended, after.now.got = nil, nil, nil
	}
	after.goesOn(rt, bytes.Contains(left["record.lock"], []byte(otherBoot)))
}

const otherBoot = "00000000-0000-0000-0000-000000000000"

// left is what a power cut at a moment leaves of the files.
func (p *plug) left(rt *rapid.T, at int) map[string][]byte {
	left := map[string][]byte{"session.json": p.moments[at].files["session.json"]}
	for name, content := range p.moments[at].files {
		if strings.HasPrefix(name, "timeline") {
			left[name] = torn(rt, name, content, p.moments[at].synced[name], p.buffered)
		}
	}
	for _, name := range []string{"pending.json", "pending.head", "record.lock"} {
		content, there := p.moments[rapid.IntRange(0, at).Draw(rt, name)].files[name]
		damage := ""
		if name != "record.lock" {
			damage = rapid.SampledFrom([]string{"", "", "empty", "NULs", "garbage", "lost"}).Draw(rt, "of "+name)
		}
		switch damage {
		case "empty":
			content = nil
		case "NULs":
			content = make([]byte, len(content))
		case "garbage":
			content = []byte("][{{")
		}
		if damage == "" && name == "record.lock" && there {
			fields := bytes.Fields(content)
			content = bytes.Replace(content, fields[2], []byte(otherBoot), 1)
		}
		if there && damage != "lost" {
			left[name] = content
		}
	}
	return left
}

// torn is what is left of a segment of which only a part was synced: any more of it,
// and where the file grew before its bytes came, NULs.
func torn(rt *rapid.T, name string, content []byte, synced int, tail bool) []byte {
	keep := rapid.IntRange(synced, len(content)).Draw(rt, "length of "+name)
	kinds := []string{"cut", "NULs", "hole"}
	if tail {
		kinds = kinds[:2]
	}
	left := slices.Clone(content[:keep])
	switch rapid.SampledFrom(kinds).Draw(rt, "end of "+name) {
	case "NULs":
		return append(left, make([]byte, len(content)-keep)...)
	case "hole": // blocks are written in any order
		from := max(synced, keep&^511)
		left = slices.Clone(content)
		clear(left[from:min(len(left), from|511+1)])
	}
	return left
}
