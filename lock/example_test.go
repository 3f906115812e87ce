package lock_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/docket-go/docket/lock"
)

func ExampleDir_Record() {
	session, err := os.MkdirTemp("", "session")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(session)
	d, err := lock.Open(session, lock.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()

	held, err := d.Record(context.Background())
	if err != nil {
		log.Fatal(err) // *lock.TimeoutError names session and lock
	}
	defer held.Release()
	fmt.Println(held.Covers(session))
	// Output: <nil>
}
