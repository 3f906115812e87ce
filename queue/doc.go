// Package queue keeps what a session is still owed.
package queue
