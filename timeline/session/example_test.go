package session_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/docket-go/docket/timeline/session"
)

// exampleStore returns a store in a directory that clean removes.
func exampleStore() (store *session.Store, clean func()) {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		log.Fatal(err)
	}
	store, err = session.OpenStore(filepath.Join(dir, "docket"), session.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return store, func() { os.RemoveAll(dir) }
}

func ExampleStore_Create() {
	store, clean := exampleStore()
	defer clean()
	s, err := store.Create(context.Background(), session.New{
		ID:       "worker-1",
		Title:    "fix the parser",
		Adapter:  "exec",
		Settings: map[string]string{"cmd": "cat"},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Release()

	r, err := s.Record()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.ID, r.Title, r.Adapter, r.Settings["cmd"])

	_, err = store.Create(context.Background(), session.New{ID: "../worker-2"})
	fmt.Println(err)
	// Output:
	// worker-1 fix the parser exec cat
	// session: bad id: "../worker-2": begin with a letter or a digit
}

func ExampleSession_Declare() {
	store, clean := exampleStore()
	defer clean()
	ctx := context.Background()
	s, err := store.Create(ctx, session.New{ID: "worker-1"})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Release()

	for _, d := range []session.Declaration{
		{Status: session.StatusActive},
		{Status: session.StatusActive},
		{Status: session.StatusAwaiting, Proposal: session.ProposalMerge, Note: "the parser is fixed"},
	} {
		answer, err := s.Declare(ctx, d)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(answer.Status, answer.Moved)
	}
	for e, err := range s.Timeline().All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d %s %q\n", e.Seq, e.Display(), e.Note)
	}
	// Output:
	// active true
	// active false
	// awaiting true
	// 0 working ""
	// 1 review "the parser is fixed"
}

func ExampleStore_Open() {
	store, clean := exampleStore()
	defer clean()
	created, err := store.Create(context.Background(), session.New{ID: "worker-1"})
	if err != nil {
		log.Fatal(err)
	}
	defer created.Release()

	for id, err := range store.IDs(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		s, err := store.Open(id)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(s.ID(), filepath.Base(s.Dir()))
		if err := s.Release(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// worker-1 worker-1
}
