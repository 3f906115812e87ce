//go:build !linux && !darwin && !windows

package doctor

import "errors"

func volumeOf(string) (volume, error) {
	return volume{}, errors.New("this platform is not known well enough")
}
