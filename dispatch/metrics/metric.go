package metrics

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/debts"
)

// A Metric is one number, or one for each value of a label.
type Metric struct {
	Name  string
	Type  string // counter or gauge
	Help  string
	Label string // the name of its label; empty means that it has none

	count func(c *dispatch.Counters) *atomic.Int64
	gauge func(s debts.Survey) []sample
}

// A sample is one value of a metric.
type sample struct {
	label string // the value of the label, if there is one
	value float64
}

// storeReadable is whether the files could be read.
const storeReadable = "docket_store_readable"

// All returns every metric, in the order in which they are shown.
func All() []Metric {
	return []Metric{
		counter("docket_messages_accepted_total", "Messages that this process accepted.",
			func(c *dispatch.Counters) *atomic.Int64 { return &c.Accepted }),
		counter("docket_messages_replayed_total", "Sends of this process whose key had come before.",
			func(c *dispatch.Counters) *atomic.Int64 { return &c.Replayed }),
		counter("docket_messages_delivered_total", "Messages that this process delivered.",
			func(c *dispatch.Counters) *atomic.Int64 { return &c.Delivered }),
		counter("docket_messages_revoked_total", "Messages that this process took back.",
			func(c *dispatch.Counters) *atomic.Int64 { return &c.Revoked }),
		counter("docket_passes_total", "Delivery passes of this process that found something owed.",
			func(c *dispatch.Counters) *atomic.Int64 { return &c.Passes }),
		counter("docket_passes_refused_total", "Passes of this process that ended at a message of which nothing was handed over.",
			func(c *dispatch.Counters) *atomic.Int64 { return &c.Refused }),
		counter("docket_passes_unconfirmed_total", "Passes of this process that ended at a message of which nobody knows whether it arrived.",
			func(c *dispatch.Counters) *atomic.Int64 { return &c.Unconfirmed }),
		counter("docket_lock_timeouts_total", "Waits of this process for the lock of a session that ran out.",
			func(c *dispatch.Counters) *atomic.Int64 { return &c.LockTimeouts }),

		{Name: storeReadable, Type: "gauge", Help: "Whether the store can be read: 1 or 0."},
		gauge("docket_sessions", "Sessions in the store.", func(s debts.Survey) float64 { return float64(s.Sessions) }),
		gauge("docket_sessions_owing", "Sessions that are owed something.", func(s debts.Survey) float64 { return float64(s.Owing) }),
		gauge("docket_sessions_unreadable", "Sessions whose queue or directory cannot be read.", func(s debts.Survey) float64 { return float64(s.Unreadable) }),
		gauge("docket_messages_owed", "Messages that are owed, in all sessions.", func(s debts.Survey) float64 { return float64(s.Owed) }),
		gauge("docket_messages_unconfirmed", "Messages that were handed over and of which nobody knows whether they arrived.",
			func(s debts.Survey) float64 { return float64(s.Unconfirmed) }),
		gauge("docket_oldest_message_age_seconds", "How long the oldest message has been owed; 0 if none is.", oldestAge),
		{Name: "docket_session_oldest_message_age_seconds", Type: "gauge", Label: "session",
			Help: "How long the oldest message of a session has been owed, for the sessions with the oldest ones.", gauge: oldestAges},
		gauge("docket_survey_duration_seconds", "How long the look at the store took from which the gauges are.",
			func(s debts.Survey) float64 { return s.Took.Seconds() }),
	}
}

func counter(name, help string, count func(c *dispatch.Counters) *atomic.Int64) Metric {
	return Metric{Name: name, Type: "counter", Help: help, count: count}
}

func gauge(name, help string, value func(s debts.Survey) float64) Metric {
	return Metric{Name: name, Type: "gauge", Help: help, gauge: func(s debts.Survey) []sample { return []sample{{value: value(s)}} }}
}

func oldestAge(s debts.Survey) float64 {
	if len(s.Oldest) == 0 {
		return 0
	}
	return seconds(s.Oldest[0].Age(s.At))
}

func oldestAges(s debts.Survey) (ages []sample) {
	for _, d := range s.Oldest {
		ages = append(ages, sample{d.Session, seconds(d.Age(s.At))})
	}
	return ages
}

// seconds rounds to milliseconds, as nobody needs more.
func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }

// escaped is a label's value as the text form has it.
var escaped = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
