// Package segment keeps an append-only log of JSON lines in numbered files.
package segment
