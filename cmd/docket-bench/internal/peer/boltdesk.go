package peer

import (
	"errors"

	"go.etcd.io/bbolt"
)

var (
	boltOwed    = []byte("owed")
	boltClaimed = []byte("claimed")
	boltSettled = []byte("settled")

	errNothingOwed = errors.New("nothing is owed")
)

// boltDesk has the messages in one bucket, and the keys of those owed in another.
type boltDesk struct{ bolt }

// BoltDesk opens a bbolt file with messages and debts.
func BoltDesk(dir string, d Durability) (Desk, error) {
	l, err := Bolt(dir, d)
	if err != nil {
		return nil, err
	}
	k := &boltDesk{*l.(*bolt)}
	return k, k.db.Update(func(tx *bbolt.Tx) error {
		var errs []error
		for _, name := range [][]byte{boltOwed, boltClaimed, boltSettled} {
			_, err := tx.CreateBucketIfNotExists(name)
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	})
}

func (k *boltDesk) Accept(n uint64) error {
	return k.db.Update(func(tx *bbolt.Tx) error {
		if err := boltPut(tx, n); err != nil {
			return err
		}
		key, _ := tx.Bucket(boltMessages).Cursor().Last()
		return tx.Bucket(boltOwed).Put(key, nil)
	})
}

func (k *boltDesk) HandOver() error {
	err := k.db.Update(func(tx *bbolt.Tx) error {
		key, _ := tx.Bucket(boltOwed).Cursor().First()
		if key == nil {
			return errNothingOwed
		}
		return tx.Bucket(boltClaimed).Put(key, nil)
	})
	if err != nil {
		return err
	}
	return k.db.Update(func(tx *bbolt.Tx) error {
		key, _ := tx.Bucket(boltClaimed).Cursor().First()
		return errors.Join(
			tx.Bucket(boltSettled).Put(key, nil), tx.Bucket(boltOwed).Delete(key), tx.Bucket(boltClaimed).Delete(key),
		)
	})
}

func (k *boltDesk) Owed() (n int, err error) {
	err = k.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(boltOwed).ForEach(func(_, _ []byte) error { n++; return nil })
	})
	return n, err
}
