package main

import (
	"context"
	"strings"

	"github.com/docket-go/docket/adapter"
)

func adaptersVerb() verb {
	return verb{
		name: "adapters", args: "[NAME]", max: 1, run: runAdapters,
		brief:   true,
		short:   "list the adapters that are built in, or explain the settings of one",
		example: "docket adapters\ndocket adapters exec",
	}
}

// adapterKind and adapterSetting are the answer of adapters in JSON.
type adapterKind struct {
	Name     string           `json:"name"`
	Doc      string           `json:"doc"`
	Settings []adapterSetting `json:"settings"`
}

type adapterSetting struct {
	Name     string  `json:"name"`
	Default  *string `json:"default"`
	Required bool    `json:"required"`
	Doc      string  `json:"doc"`
	Allowed  string  `json:"allowed"`
}

func runAdapters(_ context.Context, c *call) error {
	if len(c.args) == 1 {
		k, err := kinds().Kind(c.args[0])
		if err != nil {
			return err
		}
		if !c.out.json {
			c.printKind(k)
			return nil
		}
		return c.out.object(kindAnswer(k))
	}
	for _, k := range kinds() {
		if c.out.json {
			if err := c.out.object(kindAnswer(k)); err != nil {
				return err
			}
			continue
		}
		c.out.people("%s: %s\n    %s\n", k.Name, k.Doc, strings.Join(settingNames(k), " "))
	}
	if !c.out.json {
		c.out.people("docket adapters NAME explains the settings of one\n")
	}
	return nil
}

func kindAnswer(k adapter.Kind) adapterKind {
	answer := adapterKind{Name: k.Name, Doc: k.Doc, Settings: []adapterSetting{}}
	for _, s := range k.AllSettings() {
		answer.Settings = append(answer.Settings, adapterSetting{s.Name, orNull(s.Default), s.Required, s.Doc, s.Allowed})
	}
	return answer
}

// settingNames are the settings of a kind, those that are required first.
func settingNames(k adapter.Kind) []string {
	var required, others []string
	for _, s := range k.AllSettings() {
		if s.Required {
			required = append(required, s.Name+" (required)")
		} else {
			others = append(others, s.Name)
		}
	}
	return append(required, others...)
}

// printKind explains one kind with its settings.
func (c *call) printKind(k adapter.Kind) {
	c.out.people("%s: %s\n", k.Name, k.Doc)
	for _, s := range k.AllSettings() {
		c.out.people("    %s: %s", s.Name, s.Doc)
		switch {
		case s.Required:
			c.out.people(" (required)")
		case s.Default != "":
			c.out.people(" (default %s)", s.Default)
		}
		c.out.people("\n")
		if s.Allowed != "" {
			c.out.people("        %s\n", s.Allowed)
		}
	}
}
