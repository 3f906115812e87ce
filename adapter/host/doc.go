// Package host keeps one headless agent running for a session, beside the programs that
// send to it and the one that records its turns.
package host
