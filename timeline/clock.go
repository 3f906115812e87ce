package timeline

import "time"

// parseTime returns the zero time for text that is none: an event without a time is
// still an event.
func parseTime(text string) time.Time {
	if t, ok := timeByShape(text); ok {
		return t
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// timeByShape reads a time of the layout that this package writes, and returns
// false for any other text.
func timeByShape(s string) (t time.Time, ok bool) {
	if len(s) != len(timeLayout) {
		return time.Time{}, false
	}
	date, ok1 := dateWord.pairs(s[0:8])
	hours, ok2 := hoursWord.pairs(s[8:16])
	rest, ok3 := restWord.pairs(s[16:24])
	year, month, day := 100*date.at(0)+date.at(2), date.at(5), hours.at(0)
	hour, minute, second := hours.at(3), hours.at(6), rest.at(1)
	if !ok1 || !ok2 || !ok3 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	seconds := int64(unixDay(year, month, day)*86400 + hour*3600 + minute*60 + second)
	milli := 10*rest.at(4) + int(s[22]-'0')
	return time.Unix(seconds, int64(milli)*int64(time.Millisecond)).UTC(), true
}

// The layout in three words, which are read eight bytes at once.
var (
	dateWord  = layoutOf("0000-00-")
	hoursWord = layoutOf("00T00:00")
	restWord  = layoutOf(":00.000Z")
)

// A layout is eight bytes: a zero stands for any digit, everything else for itself.
type layout struct{ text, fixed uint64 }

func layoutOf(text string) layout {
	l := layout{text: word(text)}
	for i := range 8 {
		if text[i] != '0' {
			l.fixed |= 0xff << (8 * i)
		}
	}
	return l
}

// pairs reads s, and returns false if it is not of the layout.
func (l layout) pairs(s string) (p pairs, ok bool) {
	const ones = 0x0101010101010101
	x := word(s) ^ l.text // a digit becomes what it stands for
	above := x + (0x7f-9)*ones
	return pairs(x*10 + x>>8), (above|x)&(0x80*ones) == 0 && x&l.fixed == 0
}

// pairs has in each byte the number that a digit and the one behind it are.
type pairs uint64

func (p pairs) at(i int) int { return int(p >> (8 * i) & 0xff) }

// word returns the first eight bytes of s, the first in the lowest.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func daysIn(year, month int) int {
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		return 29
	}
	return [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
}

// unixDay counts the days from 1970-01-01 to a day of the Gregorian calendar. The
// year is taken to start in March, so that a leap day is its last.
func unixDay(year, month, day int) int {
	if month < 3 {
		year, month = year-1, month+12
	}
	year += 400 // keep what is divided positive
	return 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1 - 719468 - 146097
}
