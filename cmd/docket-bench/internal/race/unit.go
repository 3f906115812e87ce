package race

import (
	"fmt"
	"math"
)

// A Unit says what a figure is. The zero Unit is the time of one operation in
// nanoseconds.
type Unit struct {
	Name string // empty means ns
	More bool   // more is better
}

// The units that are not times.
var (
	Bytes   = Unit{Name: "bytes"}
	Percent = Unit{Name: "%"}
	Threads = Unit{Name: "threads"}
	Times   = Unit{Name: "x", More: true} // smaller than before
)

// String returns the name of the unit.
func (u Unit) String() string {
	if u.Name == "" {
		return "ns"
	}
	return u.Name
}

// format writes a figure for people, with three digits that count.
func (u Unit) format(figure float64) string {
	switch u.String() {
	case "ns":
		return scaled(figure, 1000, "ns", "µs", "ms", "s")
	case "bytes":
		return scaled(figure, 1024, "B", "KiB", "MiB", "GiB")
	case "threads":
		return fmt.Sprintf("%.0f", figure)
	}
	return number(figure) + " " + u.Name
}

func scaled(figure, step float64, names ...string) string {
	for len(names) > 1 && math.Abs(figure) >= step*0.9995 {
		figure, names = figure/step, names[1:]
	}
	return number(figure) + " " + names[0]
}

func number(figure float64) string {
	switch size := math.Abs(figure); {
	case size >= 99.95:
		return fmt.Sprintf("%.0f", figure)
	case size >= 9.995:
		return fmt.Sprintf("%.1f", figure)
	case size >= 0.00995 || size == 0:
		return fmt.Sprintf("%.2f", figure)
	}
	return fmt.Sprintf("%.2g", figure)
}
