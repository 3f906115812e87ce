package peer

import (
	"database/sql"

	"github.com/docket-go/docket/cmd/docket-bench/internal/prose"
)

// sqliteDesk has the messages in one table, and those owed in another.
type sqliteDesk struct {
	db                                       *sql.DB
	message, owe, oldest, claim, settle, pay *sql.Stmt
}

// SQLiteDesk opens an SQLite file with messages and debts.
func SQLiteDesk(dir string, d Durability) (Desk, error) {
	db, err := openSQLite(dir, d)
	if err != nil {
		return nil, err
	}
	_, err = db.Exec(`
		CREATE TABLE owed (seq INTEGER PRIMARY KEY, claimed INTEGER NOT NULL DEFAULT 0);
		CREATE TABLE settled (seq INTEGER PRIMARY KEY)`)
	if err != nil {
		return nil, err
	}
	k := &sqliteDesk{db: db}
	for _, s := range []struct {
		to  **sql.Stmt
		say string
	}{
		{&k.message, `INSERT INTO messages (line) VALUES (?)`},
		{&k.owe, `INSERT INTO owed (seq) VALUES (?)`},
		{&k.oldest, `SELECT seq FROM owed ORDER BY seq LIMIT 1`},
		{&k.claim, `UPDATE owed SET claimed = 1 WHERE seq = ?`},
		{&k.settle, `INSERT INTO settled (seq) VALUES (?)`},
		{&k.pay, `DELETE FROM owed WHERE seq = ?`},
	} {
		if *s.to, err = db.Prepare(s.say); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// change makes one transaction.
func (k *sqliteDesk) change(f func(tx *sql.Tx) error) error {
	tx, err := k.db.Begin()
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		_ = tx.Rollback() // the first error counts
		return err
	}
	return tx.Commit()
}

func (k *sqliteDesk) Accept(n uint64) error {
	return k.change(func(tx *sql.Tx) error {
		r, err := tx.Stmt(k.message).Exec(prose.Line(n))
		if err != nil {
			return err
		}
		seq, err := r.LastInsertId()
		if err != nil {
			return err
		}
		_, err = tx.Stmt(k.owe).Exec(seq)
		return err
	})
}

func (k *sqliteDesk) HandOver() error {
	var seq int64
	err := k.change(func(tx *sql.Tx) error {
		if err := tx.Stmt(k.oldest).QueryRow().Scan(&seq); err != nil {
			return err
		}
		_, err := tx.Stmt(k.claim).Exec(seq)
		return err
	})
	if err != nil {
		return err
	}
	return k.change(func(tx *sql.Tx) error {
		if _, err := tx.Stmt(k.settle).Exec(seq); err != nil {
			return err
		}
		_, err := tx.Stmt(k.pay).Exec(seq)
		return err
	})
}

func (k *sqliteDesk) Owed() (n int, err error) {
	return n, k.db.QueryRow(`SELECT count(*) FROM owed`).Scan(&n)
}

func (k *sqliteDesk) Close() error { return k.db.Close() }
