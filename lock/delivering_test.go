package lock_test

import (
	"os"
	"sync"
	"testing"

	"github.com/docket-go/docket/lock"
)

// A look sees a holder in the same process, and creates nothing where there is none.
func TestDeliveringSeesTheHolder(t *testing.T) {
	dir := t.TempDir()
	d, other := open(t, dir, lock.Options{}), open(t, dir, lock.Options{})
	if d.Delivering() {
		t.Error("got held, want free: nobody ever took it")
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 0 {
		t.Errorf("got %v, %v, want that a look creates nothing", names, err)
	}
	pass, err := other.TryDelivery()
	if err != nil {
		t.Fatal(err)
	}
	if !d.Delivering() || !other.Delivering() {
		t.Error("got free, want held, from both handles")
	}
	release(t, pass)
	if d.Delivering() || other.Delivering() {
		t.Error("got held, want free again")
	}
}

// No look takes another one for a holder, and however many look, who tries the lock
// gets it.
func TestDeliveringKeepsNobodyFromTheLock(t *testing.T) {
	d := open(t, t.TempDir(), lock.Options{})
	try := func() {
		pass, err := d.TryDelivery()
		if err != nil {
			t.Fatalf("got %v, want the lock", err)
		}
		release(t, pass)
	}
	try()
	var looks sync.WaitGroup
	for range 4 {
		looks.Go(func() {
			for range 2000 {
				if d.Delivering() {
					t.Error("got held, want free: the others only look")
					return
				}
			}
		})
	}
	looks.Wait()
	stop := make(chan struct{})
	for range 4 {
		looks.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					d.Delivering()
				}
			}
		})
	}
	defer looks.Wait()
	defer close(stop)
	for range 2000 {
		try()
	}
}
