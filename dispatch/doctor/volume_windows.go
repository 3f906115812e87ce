package doctor

import "golang.org/x/sys/windows"

func volumeOf(dir string) (v volume, err error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return v, err
	}
	err = windows.GetDiskFreeSpaceEx(path, &v.free, &v.bytes, nil)
	return v, err
}
