package acp

// UnderWay reports whether a prompt's line waits to be written, or was.
func UnderWay(a *Agent) (under bool) {
	a.with(func(s *state) { under = s.turn != nil && s.turn.line != nil })
	return under
}

// Public returns what is shown of a title when the input is known to be that JSON.
func Public(title, class, input string) string {
	var s secrets
	s.learn([]byte(input))
	s.seen = len(s.values) > 0
	return s.public(title, class)
}

// Asked returns the requests for permission that wait for a human.
func (a *Agent) Asked() (list []Request) {
	a.with(func(s *state) {
		if s.turn == nil {
			return
		}
		for _, k := range s.turn.asks {
			if k.shown {
				list = append(list, k.Request)
			}
		}
	})
	return list
}
