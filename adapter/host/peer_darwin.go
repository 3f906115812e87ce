package host

import "golang.org/x/sys/unix"

const maxSocketPath = 103

// peerUID returns the user at the other end of a connected socket.
func peerUID(fd int) (int, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(cred.Uid), nil
}
