package watch

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// watchable says whether watching a directory is cheap. Elsewhere than on Linux each
// watched directory takes a descriptor, and in part one for each file in it.
const watchable = runtime.GOOS == "linux"

// maxNames bounds what is remembered of the names of entries.
const maxNames = 4096

// A Set sleeps until any of many directories may have changed, and says which. Each
// directory bears a key that its user chooses; one of them can be listened to for
// the names of the entries that change. A Set has no goroutine, and where there is
// notification no descriptor, of its own; all Sets and Waiters of a process share
// one watcher. Outside of Linux it polls.
//
// Its methods but Wait and Take may be called by several goroutines at a time.
type Set struct {
	poll    time.Duration
	polling bool // notification is not wanted
	timer   *time.Timer
	bell    chan struct{}

	mu     sync.Mutex
	vain   int       // looks in a row that showed nothing new
	looked time.Time // when a look at everything was last called for
	polled time.Time // when one at the directories that are not watched was
	local  bool
	ears   map[int]*listener // nil for a key that cannot be watched
	deaf   int               // keys that cannot be watched
	keys   map[int]bool      // heard of since
	names  map[string]bool
	all    bool // notifications were lost
}

// Heard is what a [Set] was told since it was last asked.
type Heard struct {
	Keys  []int    // directories that changed, or are gone
	Names []string // changed entries of the directory that [Set.AddNames] named
	Deaf  bool     // it is time to look at the directories that are not watched
	All   bool     // it is time to look at everything: something may have been lost
}

// NewSet returns an empty Set. Poll is as for [New], for all directories alike.
func NewSet(poll time.Duration) *Set {
	s := &Set{
		poll: poll, polling: !watchable, bell: make(chan struct{}, 1), looked: time.Now(), polled: time.Now(),
		ears: map[int]*listener{}, keys: map[int]bool{}, names: map[string]bool{},
	}
	switch {
	case poll == 0:
		s.poll = DefaultPoll
	case poll < 0:
		s.poll, s.polling = -poll, true
	}
	s.poll = min(s.poll, time.Hour)
	s.timer = time.NewTimer(s.poll)
	return s
}

// Add watches the first of dirs that is there under the key, instead of what was
// watched under it before. What happens after it returned is heard. It returns the
// place in dirs, or -1 where none can be watched: then Heard.Deaf says when to look.
// Paths are absolute and clean.
func (s *Set) Add(key int, dirs ...string) int {
	return s.add(key, func(string, change) { s.hear(key) }, dirs)
}

// AddNames is Add for a directory in which the names of the entries that change are
// to be told.
func (s *Set) AddNames(key int, dirs ...string) int {
	return s.add(key, func(name string, _ change) { s.hearName(key, name) }, dirs)
}

func (s *Set) add(key int, tell func(string, change), dirs []string) int {
	s.Remove(key)
	var ear *listener
	at := -1
	for i, dir := range dirs {
		if s.polling {
			break
		}
		var err error
		if ear, err = ears.listen(dir, tell, false); err == nil {
			at = i
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ears) == 0 && ear != nil {
		s.local = isLocal(ear.dir)
	}
	s.ears[key] = ear
	if ear == nil {
		s.deaf++
	}
	return at
}

// Remove ends the watch under the key.
func (s *Set) Remove(key int) {
	s.mu.Lock()
	ear, known := s.ears[key]
	delete(s.ears, key)
	delete(s.keys, key)
	if known && ear == nil {
		s.deaf--
	}
	s.mu.Unlock()
	if ear != nil {
		ears.drop(ear)
	}
}

// Lost reports that nothing is heard under the key any more, although it was watched:
// the directory is gone, or has another path.
func (s *Set) Lost(key int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ear := s.ears[key]
	return ear != nil && ear.lost()
}

// Close ends all watches.
func (s *Set) Close() {
	s.timer.Stop()
	s.mu.Lock()
	all := s.ears
	s.ears, s.deaf = map[int]*listener{}, 0
	s.mu.Unlock()
	for _, ear := range all {
		if ear != nil {
			ears.drop(ear)
		}
	}
}

// News notes that the last look was not in vain.
func (s *Set) News() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.vain = 0
}

func (s *Set) hear(key int) {
	s.mu.Lock()
	s.keys[key] = true
	s.mu.Unlock()
	ring(s.bell)
}

func (s *Set) hearName(key int, name string) {
	s.mu.Lock()
	switch {
	case name == "" || len(s.names) >= maxNames:
		s.all = true
		s.keys[key] = true
	default:
		s.names[name] = true
	}
	s.mu.Unlock()
	ring(s.bell)
}

// Wait returns what was heard, and waits until there is something or a look is due.
// The error is ctx's.
func (s *Set) Wait(ctx context.Context) (Heard, error) {
	for {
		if err := ctx.Err(); err != nil {
			return Heard{}, err
		}
		if h, any := s.Take(); any {
			return h, nil
		}
		s.timer.Reset(s.pause())
		select {
		case <-ctx.Done():
		case <-s.bell:
		case <-s.timer.C:
		}
	}
}

// Take returns what was heard, without waiting, and whether there is anything. A look
// that is due counts.
func (s *Set) Take() (h Heard, any bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	h.All = s.all || now.Sub(s.looked) >= s.safety()
	h.Deaf = h.All || s.deaf > 0 && now.Sub(s.polled) >= s.rhythm()
	if h.All {
		s.looked, s.all = now, false
	}
	if h.Deaf {
		s.polled = now
		s.vain++
	}
	for key := range s.keys {
		h.Keys = append(h.Keys, key)
	}
	for name := range s.names {
		h.Names = append(h.Names, name)
	}
	clear(s.keys)
	clear(s.names)
	return h, h.Deaf || len(h.Keys)+len(h.Names) > 0
}

// pause returns how long it is until a look is due.
func (s *Set) pause() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	pause := time.Until(s.looked.Add(s.safety()))
	if s.deaf > 0 {
		pause = min(pause, time.Until(s.polled.Add(s.rhythm())))
	}
	return max(pause, 0)
}

// safety is the distance of looks at everything.
func (s *Set) safety() time.Duration {
	if s.local {
		return localFactor * s.poll
	}
	return safetyFactor * s.poll
}

// rhythm is the distance of looks at what is not watched.
func (s *Set) rhythm() time.Duration {
	if s.vain > quietLooks {
		return quietFactor * s.poll
	}
	return s.poll
}
