package httpread

import (
	"context"
	"net/http"

	"github.com/docket-go/docket/timeline/session"
)

// maxMIDBytes bounds a mid in a request.
const maxMIDBytes = 256

// stateUnconfirmed is the state of a message that somebody has to decide about.
const stateUnconfirmed = "unconfirmed"

// owedJSON is one message that is owed.
type owedJSON struct {
	MID         string  `json:"mid"`
	From        *string `json:"from"`
	Text        string  `json:"text"`
	State       string  `json:"state"`
	EnqueuedAt  *string `json:"enqueuedAt"`
	Attempts    int     `json:"attempts"`
	LastAttempt *string `json:"lastAttempt"`
	LastError   *string `json:"lastError"`
	Handing     bool    `json:"handing"`
}

func (h *Handler) pending(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r, "limit")
	if err != nil {
		return err
	}
	n, err := limit(q)
	if err != nil {
		return err
	}
	if h.o.Debts == nil {
		return notOffered("what is owed")
	}
	return h.opened(r, func(s *session.Session) error {
		list := struct {
			Session string     `json:"session"`
			Pending []owedJSON `json:"pending"` // the oldest
			Total   int        `json:"total"`
		}{s.ID(), []owedJSON{}, 0}
		size := 0
		for e, err := range h.o.Debts(r.Context(), s.ID()) {
			if err != nil {
				return err
			}
			list.Total++
			if size += len(e.Text); len(list.Pending) < n && (size <= maxAnswerBytes || len(list.Pending) == 0) {
				list.Pending = append(list.Pending, owedAs(e))
				continue
			}
			n = len(list.Pending) // what follows is only counted
			if h.o.Count != nil {
				total, err := h.o.Count(r.Context(), s.ID())
				if err != nil {
					return err
				}
				list.Total = max(total, list.Total)
				break
			}
		}
		return answer(w, r, list)
	})
}

func owedAs(e Owed) owedJSON {
	return owedJSON{
		MID: e.MID, From: orNull(e.From), Text: e.Text, State: e.State, EnqueuedAt: stamp(e.EnqueuedAt),
		Attempts: e.Attempts, LastAttempt: stamp(e.LastAttempt), LastError: orNull(e.LastError), Handing: e.Handing,
	}
}

// stateJSON is where a message is.
type stateJSON struct {
	State     string  `json:"state"`
	EndedAt   *string `json:"endedAt"`
	Reason    *string `json:"reason"`
	Attempts  int     `json:"attempts"`
	LastError *string `json:"lastError"`
	Handing   bool    `json:"handing"`
}

func (h *Handler) states(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r, "mid")
	if err != nil {
		return err
	}
	mids := q["mid"]
	if len(mids) == 0 || len(mids) > MaxPage {
		return refuse(http.StatusBadRequest, "bad-mid", "name 1 to %d messages, each as mid=MID", MaxPage)
	}
	for _, mid := range mids {
		if mid == "" || len(mid) > maxMIDBytes {
			return refuse(http.StatusBadRequest, "bad-mid", "a mid has 1 to %d bytes: take one of the timeline", maxMIDBytes)
		}
	}
	if h.o.States == nil {
		return notOffered("the states of messages")
	}
	return h.opened(r, func(s *session.Session) error {
		states, err := h.o.States(r.Context(), s.ID(), mids)
		if err != nil {
			return err
		}
		found := struct {
			Session string               `json:"session"`
			States  map[string]stateJSON `json:"states"` // by mid
		}{s.ID(), make(map[string]stateJSON, len(states))}
		for mid, st := range states {
			found.States[mid] = stateJSON{st.State, stamp(st.EndedAt), orNull(st.Reason), st.Attempts, orNull(st.LastError), st.Handing}
		}
		return answer(w, r, found)
	})
}

// owes returns how much a session is owed, and how much of that somebody has to decide
// about. Both are nil where nobody can tell.
func (h *Handler) owes(ctx context.Context, id string) (owed, unconfirmed *int, err error) {
	if owed, err = h.counted(ctx, id, h.o.Count, nil); owed == nil || err != nil {
		return nil, nil, err
	}
	if *owed == 0 {
		return owed, new(int), nil
	}
	unconfirmed, err = h.counted(ctx, id, h.o.Unconfirmed, func(o Owed) bool { return o.State == stateUnconfirmed })
	return owed, unconfirmed, err
}

// counted asks count, or counts what is pending and fits.
func (h *Handler) counted(ctx context.Context, id string, count func(context.Context, string) (int, error), fits func(Owed) bool) (*int, error) {
	if count != nil {
		n, err := count(ctx, id)
		if err != nil {
			return nil, err
		}
		return &n, nil
	}
	if h.o.Debts == nil {
		return nil, nil
	}
	n := 0
	for o, err := range h.o.Debts(ctx, id) {
		if err != nil {
			return nil, err
		}
		if fits == nil || fits(o) {
			n++
		}
	}
	return &n, nil
}
