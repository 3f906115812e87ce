package doctor

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

const watchLimit = "/proc/sys/fs/inotify/max_user_watches"

// notification compares the system's limit with the number of sessions: docket serve
// and those that follow all sessions watch the directory of each.
func (e *examination) notification() {
	if e.absent || e.tally.unlisted {
		return
	}
	text, err := os.ReadFile(watchLimit)
	limit, numErr := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || numErr != nil {
		return
	}
	e.watches(limit, e.tally.survey.Sessions)
}

// watches says whether a limit is enough for so many sessions: each has a watch on its
// directory, and one more if its timeline has a directory of its own.
func (e *examination) watches(limit, sessions int) {
	if need := 2*sessions + 10; need > limit {
		e.note("notification", fmt.Sprintf("sudo sysctl fs.inotify.max_user_watches=%d", 2*need),
			"the system allows %d watches to a user, which is too few for %s: those beyond are looked at one by one", limit, count(sessions, "session"))
		return
	}
	e.ok("notification", "the system allows %d watches to a user, which is enough for %s", limit, count(sessions, "session"))
}
