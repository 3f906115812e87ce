package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/none"
	"github.com/docket-go/docket/timeline/session"
)

func setVerb() verb {
	return verb{
		name: "set", args: "ID", min: 1, max: 1, run: runSet,
		changes: true,
		short:   "change the title, the adapter or its settings; print the record",
		more: "What is not named stays. Of the settings, another adapter takes over those that it has\n" +
			"too. The texts of messages that are owed stay as they were accepted. A pass, or a host,\n" +
			"that is under way goes on with what it began with; the next one takes what is new.",
		example: "docket set worker-1 --set target=work:1.2\n" +
			"docket set worker-1 --adapter exec --set cmd='my-agent --stdin'\n" +
			"docket set worker-1 --unset timeout --title 'the parser'",
		flags: []verbFlag{
			{name: "adapter", usage: "the `NAME` of the adapter that hands messages over (see docket adapters)"},
			{name: "set", takes: several, usage: "a setting of the adapter, `NAME=VALUE`; may be repeated"},
			{name: "unset", takes: several, usage: "take the setting `NAME` away; may be repeated"},
			{name: "title", usage: "what it is about, for people"},
		},
	}
}

// A change is what set is to do.
type change struct {
	title   *string
	adapter *string
	set     map[string]string
	unset   []string
}

func runSet(ctx context.Context, c *call) error {
	id := c.about(c.args[0])
	to, err := c.change()
	if err != nil {
		return err
	}
	return c.with(id, func(s *session.Session) error {
		if err := s.Update(ctx, to.apply); err != nil {
			return err
		}
		return c.show(ctx, s)
	})
}

// change is what the flags ask for.
func (c *call) change() (to change, err error) {
	if to.set, err = c.pairs("set"); err != nil {
		return to, err
	}
	to.unset = c.flags.StringSlice("unset")
	for _, name := range to.unset {
		if _, both := to.set[name]; both {
			return to, &usageError{c.verb, fmt.Sprintf("--set %s and --unset %s exclude each other: give one of them", name, name)}
		}
	}
	for flag, value := range map[string]**string{"title": &to.title, "adapter": &to.adapter} {
		if c.flags.IsSet(flag) {
			text := c.flags.String(flag)
			*value = &text
		}
	}
	if to.title == nil && !to.adapts() {
		return to, &usageError{c.verb, "nothing to change: give --set, --unset, --adapter or --title"}
	}
	return to, nil
}

// adapts reports whether anything of the adapter changes.
func (to change) adapts() bool { return to.adapter != nil || len(to.set)+len(to.unset) > 0 }

// apply changes the record, if all of it is good.
func (to change) apply(r *session.Record) error {
	if to.title != nil {
		r.Title = *to.title
	}
	if !to.adapts() {
		return nil
	}
	name := r.Adapter
	if to.adapter != nil {
		name = *to.adapter
	}
	if name == "" {
		name = none.Kind.Name
	}
	settings, err := to.settings(name, r)
	if err == nil {
		settings, err = kinds().Settle(name, settings)
	}
	if err != nil {
		return err
	}
	r.Adapter, r.Settings = name, settings
	return nil
}

// settings are those that the session is to have with the adapter of that name.
func (to change) settings(name string, r *session.Record) (map[string]string, error) {
	kind, err := kinds().Kind(name)
	if err != nil {
		return nil, err
	}
	var known []string
	for _, s := range kind.AllSettings() {
		known = append(known, s.Name)
	}
	all := map[string]string{}
	for k, v := range r.Settings {
		if name == r.Adapter || slices.Contains(known, k) {
			all[k] = v
		}
	}
	for _, k := range to.unset {
		if _, is := r.Settings[k]; !is && !slices.Contains(known, k) {
			return nil, &adapter.SettingError{Adapter: name, Setting: k, Allowed: strings.Join(known, ", "), Err: adapter.ErrUnknownSetting}
		}
		delete(all, k)
	}
	maps.Copy(all, to.set)
	return all, nil
}
