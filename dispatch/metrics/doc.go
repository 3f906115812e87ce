// Package metrics shows what a process does for a store, and what the store is still
// owed, as numbers: in the text form of Prometheus, and as a variable of package
// expvar.
//
//	counters := &dispatch.Counters{}
//	d := dispatch.New(store, dispatch.Options{Counters: counters})
//	m := metrics.New(metrics.Options{Store: store, Counters: counters})
//	mux.Handle("/metrics", m)
//	expvar.Publish("docket", m.Var())
//
// # What it keeps
//
// The last survey of the store (package dispatch/debts), for [Options.Fresh], so that
// any number of scrapes cost one. Nothing is registered anywhere.
//
// # Guarantees
//
// The counters are of this process, from its beginning: there is no daemon, and any
// process may accept or deliver. What the others have done shows in the gauges, which
// are read from the files. A counter never falls while the process lives.
//
// A survey takes a tenth of the time at most: on a store so large that it takes long,
// the gauges are older. Only one is made at a time; whoever comes meanwhile gets its
// result; on a store that takes longer than a scraper waits, the next scrape has it.
// Memory and answer do not grow with the store: sessions are named for the
// oldest debts only, as many as [Options.Oldest] says, and never a message, nor
// anything of its text. If the store cannot be read, docket_store_readable is 0, the
// gauges that it would give are left out, and the counters stand.
//
// It checks no token and no host: put it behind what guards the rest.
//
// # Crashes
//
// There is nothing to leave behind; counters begin at 0 again.
//
// # Format
//
// The text form is version 0.0.4, and what a [Metric] is called is a contract; see
// [All]. The variable is a JSON object with the same names; those with a label are
// objects by its value.
package metrics
