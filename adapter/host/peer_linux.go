package host

import "golang.org/x/sys/unix"

const maxSocketPath = 107

// peerUID returns the user at the other end of a connected socket.
func peerUID(fd int) (int, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(cred.Uid), nil
}
