package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Leftovers returns the paths of sessions that were not created, or not removed, to the
// end: what [Store.Create] and [Session.Close] work on at this moment, and what
// processes that died left, which the next one of the two removes. It takes no lock and
// changes nothing. A store that does not exist has none; the error is of the disk.
func (s *Store) Leftovers() (paths []string, err error) {
	entries, err := s.disk.names(s.stagingDir())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), buildPrefix) || strings.HasPrefix(e.Name(), tombPrefix) {
			paths = append(paths, filepath.Join(s.stagingDir(), e.Name()))
		}
	}
	return paths, nil
}
