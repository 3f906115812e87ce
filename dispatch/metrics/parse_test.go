package metrics_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	nameForm   = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)
	labelForm  = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
	sampleForm = regexp.MustCompile(`^([^ {]+)(\{.*\})? ([^ ]+)$`)
	labelsForm = regexp.MustCompile(`^\{([^=]+)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"\}$`)
)

// A series is one sample that was parsed.
type series struct {
	name, label, value string
	number             float64
}

// parse reads the text form 0.0.4 as strictly as its description allows: each metric
// in one group, with HELP and TYPE in front of its samples, each sample once, every
// line ended, and nothing else.
func parse(text string) (all []series, err error) {
	if text != "" && !strings.HasSuffix(text, "\n") {
		return nil, fmt.Errorf("the last line does not end")
	}
	seen, samples := map[string]bool{}, map[string]bool{}
	helped, typed := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		comment, isComment := strings.CutPrefix(line, "# ")
		if !isComment {
			s, err := parseSample(line, typed)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
			if key := s.name + "\x00" + s.value; samples[key] {
				return nil, fmt.Errorf("%q: twice", line)
			} else {
				samples[key] = true
			}
			all = append(all, s)
			continue
		}
		word, rest, _ := strings.Cut(comment, " ")
		name, what, _ := strings.Cut(rest, " ")
		switch {
		case !nameForm.MatchString(name):
			return nil, fmt.Errorf("%q: bad name", line)
		case word == "HELP" && !seen[name] && what != "" && !strings.Contains(what, `\`):
			helped, typed, seen[name] = name, "", true
		case word == "TYPE" && helped == name && typed == "" && (what == "counter" || what == "gauge"):
			typed = name
			if (what == "counter") != strings.HasSuffix(name, "_total") {
				return nil, fmt.Errorf("%q: counters, and only they, end in _total", line)
			}
		default:
			return nil, fmt.Errorf("%q: unexpected here", line)
		}
	}
	return all, nil
}

func parseSample(line, typed string) (s series, err error) {
	parts := sampleForm.FindStringSubmatch(line)
	if parts == nil || parts[1] != typed {
		return s, fmt.Errorf("no sample of %q", typed)
	}
	s.name = parts[1]
	if parts[2] != "" {
		label := labelsForm.FindStringSubmatch(parts[2])
		if label == nil || !labelForm.MatchString(label[1]) {
			return s, fmt.Errorf("bad label")
		}
		s.label, s.value = label[1], strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n").Replace(label[2])
	}
	s.number, err = strconv.ParseFloat(parts[3], 64)
	return s, err
}
