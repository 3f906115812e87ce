package main

import (
	"context"

	"github.com/docket-go/docket/adapter"
)

func adaptersVerb() verb {
	return verb{
		name: "adapters", run: runAdapters,
		short:   "list the adapters that are built in, with their settings",
		example: "docket adapters",
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
	for _, k := range kinds {
		if !c.out.json {
			c.printKind(k)
			continue
		}
		answer := adapterKind{Name: k.Name, Doc: k.Doc, Settings: []adapterSetting{}}
		for _, s := range k.AllSettings() {
			answer.Settings = append(answer.Settings, adapterSetting{s.Name, orNull(s.Default), s.Required, s.Doc, s.Allowed})
		}
		if err := c.out.object(answer); err != nil {
			return err
		}
	}
	return nil
}

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
