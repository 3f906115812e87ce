package main

import (
	"context"
	"runtime/debug"
)

func versionVerb() verb {
	return verb{
		name: "version", short: "print the version of this docket",
		brief:   true,
		example: "docket version",
		run: func(_ context.Context, c *call) error {
			if c.out.json {
				return c.out.object(struct {
					Version string `json:"version"`
				}{version()})
			}
			c.out.people("docket version %s\n", version())
			return nil
		},
	}
}

// version is what the module system knows about this build.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}
