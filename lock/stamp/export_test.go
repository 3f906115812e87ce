package stamp

// Tick is how old a change must be before a look at it is trusted where changes are
// not told apart otherwise.
const Tick = tick

// Distinct reports that this system tells all changes apart.
func Distinct() bool { return distinct() }

// SetDistinct says whether d is on a system that does.
func (d *Dir) SetDistinct(yes bool) {
	if d.tick = tick; yes {
		d.tick = 0
	}
}
