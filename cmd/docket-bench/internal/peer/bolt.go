package peer

import (
	"encoding/binary"
	"path/filepath"

	"go.etcd.io/bbolt"

	"github.com/docket-go/docket/cmd/docket-bench/internal/prose"
)

var boltMessages = []byte("messages")

// bolt is a bucket with the messages under growing keys.
type bolt struct{ db *bbolt.DB }

// Bolt opens a bbolt file.
func Bolt(dir string, d Durability) (Log, error) {
	db, err := bbolt.Open(filepath.Join(dir, "bolt.db"), 0o600, &bbolt.Options{NoSync: d == Buffered, NoFreelistSync: true})
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(boltMessages)
		return err
	})
	return &bolt{db}, err
}

func (b *bolt) Append(n uint64) error {
	return b.db.Update(func(tx *bbolt.Tx) error { return boltPut(tx, n) })
}

func boltPut(tx *bbolt.Tx, n uint64) error {
	messages := tx.Bucket(boltMessages)
	at, err := messages.NextSequence()
	if err != nil {
		return err
	}
	messages.FillPercent = 1 // keys only grow
	return messages.Put(binary.BigEndian.AppendUint64(nil, at), prose.Line(n))
}

func (b *bolt) Count() (n int, err error) {
	err = b.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(boltMessages).ForEach(func(_, _ []byte) error { n++; return nil })
	})
	return n, err
}

func (b *bolt) Close() error { return b.db.Close() }

// Fill stores n messages in large transactions.
func (b *bolt) Fill(n int) error {
	const group = 10_000
	for from := 0; from < n; from += group {
		err := b.db.Update(func(tx *bbolt.Tx) error {
			for i := from; i < min(n, from+group); i++ {
				if err := boltPut(tx, uint64(i)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Tail reads the last n messages.
func (b *bolt) Tail(n int) (lines [][]byte, err error) {
	err = b.db.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket(boltMessages).Cursor()
		for k, v := c.Last(); k != nil && len(lines) < n; k, v = c.Prev() {
			lines = append(lines, append([]byte(nil), v...))
		}
		return nil
	})
	return lines, err
}
