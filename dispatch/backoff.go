package dispatch

import "time"

// A backoff is the ladder of distances between the attempts at one session: the
// first is least, each further one twice the one before, and none is more than
// most. Every distance is shortened at random by up to half, so that sessions that
// failed together do not come again together.
type backoff struct {
	least, most time.Duration
}

// after returns the distance to the next attempt after so many failures in a row,
// for a random number in [0, 1).
func (b backoff) after(failures int, random float64) time.Duration {
	step := b.least
	for range failures - 1 {
		if step > b.most/2 {
			return b.ceiling(random)
		}
		step *= 2
	}
	return shorten(min(step, b.most), random)
}

// ceiling is the last step of the ladder.
func (b backoff) ceiling(random float64) time.Duration { return shorten(b.most, random) }

func shorten(step time.Duration, random float64) time.Duration {
	return step - time.Duration(random*float64(step/2))
}
