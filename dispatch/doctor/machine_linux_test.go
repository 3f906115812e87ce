package doctor_test

import (
	"testing"

	"github.com/docket-go/docket/dispatch/doctor"
)

const kernelLocks = `1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF
1: -> FLOCK  ADVISORY  WRITE 4712 fe:00:1234 0 EOF
2: POSIX  ADVISORY  WRITE 10 fe:00:77 1073741824 1073742335
3: FLOCK  ADVISORY  READ 12 00:1b:99 0 EOF
4: FLOCK  ADVISORY  WRITE -1 00:1b:98 0 EOF
5: OFDLCK ADVISORY  WRITE -1 00:1b:97 0 EOF
nonsense
`

func TestKernelSaysWhoHoldsALock(t *testing.T) {
	for _, tt := range []struct {
		major, minor uint32
		inode        uint64
		want         int
	}{
		{0xfe, 0, 1234, 4711}, // and not who waits for it
		{0xfe, 0, 77, 0},      // another kind of lock
		{0, 0x1b, 99, 12},
		{0, 0x1b, 98, 0}, // in another namespace
		{0xfe, 1, 1234, 0},
	} {
		if got := doctor.HolderOf(kernelLocks, tt.major, tt.minor, tt.inode); got != tt.want {
			t.Errorf("%x:%x:%d: got %d, want %d", tt.major, tt.minor, tt.inode, got, tt.want)
		}
	}
}

func TestWatches(t *testing.T) {
	findings(doctor.OfWatches(8192, 100)).wants(t, "notification", doctor.OK, "8192", "100 sessions")
	findings(doctor.OfWatches(8192, 10_000)).wants(t, "notification", doctor.Note, "8192", "10000 sessions", "sysctl fs.inotify.max_user_watches=40020")
}
