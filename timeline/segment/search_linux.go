package segment

import "golang.org/x/sys/unix"

// searchFlags open a directory to find names in it.
const searchFlags = unix.O_PATH
