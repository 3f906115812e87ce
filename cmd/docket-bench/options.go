package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"time"
)

// options are what the command line asks for.
type options struct {
	size    size
	match   *regexp.Regexp
	dir     string
	docket  string
	profile string
	json    bool
	list    bool

	markdown bool
}

// A size says how much of everything a run does.
type size struct {
	name     string
	rounds   int           // of each workload at most
	round    time.Duration // of one contestant
	segment  int64         // bytes of a segment of the logs that are read; zero means docket's default
	small    int           // events in a log that is read quickly
	middle   int           // events in a log that is read whole
	large    int           // events in a log whose length must not matter
	huge     int           // the same, if the run has time for it; zero means that it has not
	together int           // goroutines that append to one log
	writers  int           // processes that append to one log, or want one lock
	drained  int           // messages that one pass hands over
	deep     int           // messages that are owed where the depth must not matter
	sessions int           // that are watched at once
	waiting  int           // goroutines that wait for one lock
	idle     time.Duration // for which idleness is measured
}

// The sizes of a run.
var (
	quick = size{
		name: "quick", rounds: 41, round: 6 * time.Millisecond,
		small: 10_000, middle: 50_000, large: 1_000_000,
		together: 64, writers: 8, drained: 1000, deep: 10_000, sessions: 10_000, waiting: 10_000, idle: 8 * time.Second,
	}
	full = size{
		name: "full", rounds: 151, round: 20 * time.Millisecond,
		small: 10_000, middle: 300_000, large: 1_000_000, huge: 10_000_000,
		together: 64, writers: 8, drained: 1000, deep: 10_000, sessions: 10_000, waiting: 10_000, idle: 30 * time.Second,
	}
)

// errUsage is returned for arguments that were explained on standard error already.
var errUsage = errors.New("usage")

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{size: quick}
	flags := flag.NewFlagSet("docket-bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	isQuick := flags.Bool("quick", false, "a short run, under three minutes; the default")
	isFull := flags.Bool("full", false, "a long run, with a log of ten million events: needs 8 GB of disk")
	pattern := flags.String("run", "", "only workloads whose name matches the `REGEXP`")
	flags.StringVar(&o.dir, "dir", "", "the `DIR` to make the files in, on the disk that is to be measured (else the system's for temporary files)")
	flags.StringVar(&o.docket, "docket", "", "the `PROGRAM` docket to measure as a process (else it is built)")
	flags.StringVar(&o.profile, "cpuprofile", "", "write a CPU profile with a label for each contestant to `FILE`")
	flags.BoolVar(&o.json, "json", false, "print one JSON object a line")
	flags.BoolVar(&o.markdown, "markdown", false, "print tables for a page, such as README.md")
	flags.BoolVar(&o.list, "list", false, "only name the workloads")
	if err := flags.Parse(args); err != nil {
		return o, errUsage
	}
	refuse := func(why string) (options, error) {
		fmt.Fprintf(stderr, "docket-bench: %s: see docket-bench -help\n", why)
		return o, errUsage
	}
	switch {
	case flags.NArg() > 0:
		return refuse("arguments are not taken")
	case *isQuick && *isFull:
		return refuse("-quick and -full exclude each other")
	case o.json && o.markdown:
		return refuse("-json and -markdown exclude each other")
	case *isFull:
		o.size = full
	}
	var err error
	if o.match, err = regexp.Compile(*pattern); err != nil {
		return refuse(err.Error())
	}
	return o, nil
}
