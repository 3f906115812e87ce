package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/docket-go/docket/cmd/docket-bench/internal/machine"
	"github.com/docket-go/docket/cmd/docket-bench/internal/race"
)

// A printer writes what a run shows, for people, for machines or for a page.
type printer struct {
	w        io.Writer
	json     bool
	markdown bool
}

func (p printer) machine(m machine.Machine, s size) error {
	if p.json {
		return json.NewEncoder(p.w).Encode(struct {
			Size string `json:"size"`
			machine.Machine
		}{s.name, m})
	}
	described := []string{fmt.Sprintf("%d cores", m.Cores), m.OS + "/" + m.Arch, m.Go}
	for _, known := range []string{m.FileSystem, m.CPU} {
		if known != "" {
			described = append([]string{known}, described...)
		}
	}
	if _, err := fmt.Fprintf(p.w, "%s, %s run\n", strings.Join(described, ", "), s.name); err != nil {
		return err
	}
	if m.Volatile() {
		_, err := fmt.Fprintf(p.w, "The files are in memory (%s): a data sync costs nothing there. Choose a disk with -dir.\n", m.FileSystem)
		return err
	}
	_, err := fmt.Fprintln(p.w, "Of each contestant: the median, minimum and maximum of its rounds, and its ratio to the limit in the same round.")
	return err
}

func (p printer) result(r race.Result) error {
	if p.json {
		return r.Lines(p.w)
	}
	if _, err := fmt.Fprintln(p.w); err != nil {
		return err
	}
	if p.markdown {
		return r.Markdown(p.w)
	}
	return r.Print(p.w)
}

func (p printer) list(ws []race.Workload) error {
	for _, w := range ws {
		if p.json {
			line := struct {
				Workload string `json:"workload"`
				About    string `json:"about"`
			}{w.Name, w.About}
			if err := json.NewEncoder(p.w).Encode(line); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintf(p.w, "%-18s %s\n", w.Name, w.About); err != nil {
			return err
		}
	}
	return nil
}
