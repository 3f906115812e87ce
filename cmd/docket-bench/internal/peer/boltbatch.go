package peer

import "go.etcd.io/bbolt"

// boltBatch shares transactions among goroutines.
type boltBatch struct{ bolt }

// BoltBatch opens a bbolt file whose appends at the same time share a transaction.
func BoltBatch(dir string, d Durability) (Log, error) {
	l, err := Bolt(dir, d)
	if err != nil {
		return nil, err
	}
	return &boltBatch{*l.(*bolt)}, nil
}

func (b *boltBatch) Append(n uint64) error {
	return b.db.Batch(func(tx *bbolt.Tx) error { return boltPut(tx, n) })
}
