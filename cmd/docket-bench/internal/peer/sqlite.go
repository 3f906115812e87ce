package peer

import (
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite", without C

	"github.com/docket-go/docket/cmd/docket-bench/internal/prose"
)

// sqlite is a table of messages in a database with a write-ahead log.
type sqlite struct {
	db     *sql.DB
	insert *sql.Stmt
}

// SQLite opens an SQLite file: synchronous FULL for messages that survive a power
// cut, and OFF for those that survive the process.
func SQLite(dir string, d Durability) (Log, error) {
	db, err := openSQLite(dir, d)
	if err != nil {
		return nil, err
	}
	insert, err := db.Prepare(`INSERT INTO messages (line) VALUES (?)`)
	return &sqlite{db, insert}, err
}

func openSQLite(dir string, d Durability) (*sql.DB, error) {
	synchronous := "FULL"
	if d == Buffered {
		synchronous = "OFF"
	}
	path := filepath.ToSlash(filepath.Join(dir, "sqlite.db"))
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/…
	}
	name := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{
		"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", fmt.Sprintf("synchronous(%s)", synchronous)},
		"_txlock": {"immediate"},
	}.Encode()}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	_, err = db.Exec(`CREATE TABLE IF NOT EXISTS messages (seq INTEGER PRIMARY KEY, line BLOB NOT NULL)`)
	return db, err
}

func (s *sqlite) Append(n uint64) error {
	_, err := s.insert.Exec(prose.Line(n))
	return err
}

func (s *sqlite) Count() (n int, err error) {
	return n, s.db.QueryRow(`SELECT count(*) FROM messages`).Scan(&n)
}

func (s *sqlite) Close() error { return s.db.Close() }

// Fill stores n messages in one transaction.
func (s *sqlite) Fill(n int) error {
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	insert := tx.Stmt(s.insert)
	for i := range n {
		if _, err := insert.Exec(prose.Line(uint64(i))); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Tail reads the last n messages.
func (s *sqlite) Tail(n int) (lines [][]byte, err error) {
	rows, err := s.db.Query(`SELECT line FROM messages ORDER BY seq DESC LIMIT ?`, n)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var line []byte
		if err := rows.Scan(&line); err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, rows.Err()
}
