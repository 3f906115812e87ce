package top

import "github.com/docket-go/docket/cmd/docket/internal/screen"

// Order returns the ids of the rows that the filter keeps, in their order.
func (m *Model) Order() (ids []string) {
	for _, it := range m.list.order {
		ids = append(ids, it.ID)
	}
	return ids
}

// Selected returns the id of the selected row.
func (m *Model) Selected() string { return m.list.selected }

// Asking returns the question, and the command that a yes gives.
func (m *Model) Asking() (string, Command) {
	if m.question == nil {
		return "", Command{}
	}
	return m.question.ask, m.question.command
}

// Top returns how many rows of the conversation are above the window.
func (m *Model) Top() int { return m.talk.top }

// Held returns how many events the reader holds.
func (m *Model) Held() int { return len(m.talk.events) }

// Press presses keys, of which those with a name of several letters stand in <>.
func (m *Model) Press(keys string) (all []Command) {
	for len(keys) > 0 {
		name := keys[:1]
		if keys[0] == '<' {
			for i := range keys {
				if keys[i] == '>' {
					name, keys = keys[1:i], keys[i:]
					break
				}
			}
			all = append(all, m.Key(screen.Key{Name: name})...)
		} else {
			all = append(all, m.Key(screen.Key{Name: name, Text: name})...)
		}
		keys = keys[1:]
	}
	return all
}
