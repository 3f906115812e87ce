package main

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/compose"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/watching"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/fleet"
	"github.com/docket-go/docket/timeline/segment"
	"github.com/docket-go/docket/timeline/session"
	"github.com/docket-go/docket/timeline/turn"
)

// statuses has every sentinel that the packages export.
var statuses = map[string]struct {
	err    error
	status int
}{
	"adapter.ErrBlocked":          {adapter.ErrBlocked, statusFailed},
	"adapter.ErrBusy":             {adapter.ErrBusy, statusFailed},
	"adapter.ErrGone":             {adapter.ErrGone, statusFailed},
	"adapter.ErrRefused":          {adapter.ErrRefused, statusFailed},
	"adapter.ErrUnconfirmed":      {adapter.ErrUnconfirmed, statusFailed},
	"adapter.ErrUnknownAdapter":   {adapter.ErrUnknownAdapter, statusRefused},
	"adapter.ErrUnknownSetting":   {adapter.ErrUnknownSetting, statusRefused},
	"adapter.ErrMissingSetting":   {adapter.ErrMissingSetting, statusRefused},
	"compose.ErrChannel":          {compose.ErrChannel, statusRefused},
	"dispatch.ErrAttributes":      {dispatch.ErrAttributes, statusRefused},
	"dispatch.ErrEmptyText":       {dispatch.ErrEmptyText, statusRefused},
	"dispatch.ErrAltered":         {dispatch.ErrAltered, statusCorrupt},
	"dispatch.ErrDoubled":         {dispatch.ErrDoubled, statusCorrupt},
	"dispatch.ErrOvertaken":       {dispatch.ErrOvertaken, statusCorrupt},
	"dispatch.ErrEnded":           {dispatch.ErrEnded, statusCorrupt},
	"dispatch.ErrForgotten":       {dispatch.ErrForgotten, statusCorrupt},
	"dispatch.ErrUnrecorded":      {dispatch.ErrUnrecorded, statusCorrupt},
	"dispatch.ErrHeld":            {dispatch.ErrHeld, statusFailed},
	"dispatch.ErrInDoubt":         {dispatch.ErrInDoubt, statusFailed},
	"dispatch.ErrInFlight":        {dispatch.ErrInFlight, statusRefused},
	"dispatch.ErrKey":             {dispatch.ErrKey, statusRefused},
	"dispatch.ErrKeyReused":       {dispatch.ErrKeyReused, statusRefused},
	"dispatch.ErrNoMessage":       {dispatch.ErrNoMessage, statusNotFound},
	"dispatch.ErrNotUnconfirmed":  {dispatch.ErrNotUnconfirmed, statusRefused},
	"dispatch.ErrReceipt":         {dispatch.ErrReceipt, statusCorrupt},
	"dispatch.ErrSenderClosed":    {dispatch.ErrSenderClosed, statusRefused},
	"fleet.ErrCorrupt":            {fleet.ErrCorrupt, statusCorrupt},
	"host.ErrClosed":              {host.ErrClosed, statusNotFound},
	"host.ErrDied":                {host.ErrDied, statusFailed},
	"host.ErrFile":                {host.ErrFile, statusCorrupt},
	"host.ErrNoHost":              {host.ErrNoHost, statusFailed},
	"host.ErrNoPermission":        {host.ErrNoPermission, statusNotFound},
	"host.ErrNoOption":            {host.ErrNoOption, statusNotFound},
	"host.ErrOwned":               {host.ErrOwned, statusFailed},
	"host.ErrProtocol":            {host.ErrProtocol, statusFailed},
	"host.ErrSilent":              {host.ErrSilent, statusFailed},
	"host.ErrRunning":             {host.ErrRunning, statusFailed},
	"host.ErrUnsupported":         {host.ErrUnsupported, statusFailed},
	"host.ErrVersion":             {host.ErrVersion, statusFailed},
	"lock.ErrBusy":                {lock.ErrBusy, statusDeadline},
	"lock.ErrClosed":              {lock.ErrClosed, statusNotFound},
	"lock.ErrNotHeld":             {lock.ErrNotHeld, statusFailed},
	"lock.ErrReadOnly":            {lock.ErrReadOnly, statusFailed},
	"lock.ErrTimeout":             {lock.ErrTimeout, statusDeadline},
	"lock.ErrUnsupported":         {lock.ErrUnsupported, statusFailed},
	"queue.ErrCorrupt":            {queue.ErrCorrupt, statusCorrupt},
	"queue.ErrFull":               {queue.ErrFull, statusRefused},
	"queue.ErrInvalid":            {queue.ErrInvalid, statusRefused},
	"queue.ErrNotPending":         {queue.ErrNotPending, statusRefused},
	"queue.ErrUnconfirmed":        {queue.ErrUnconfirmed, statusFailed},
	"segment.ErrClosed":           {segment.ErrClosed, statusNotFound},
	"segment.ErrCorrupt":          {segment.ErrCorrupt, statusCorrupt},
	"segment.ErrFaulted":          {segment.ErrFaulted, statusFailed},
	"segment.ErrFull":             {segment.ErrFull, statusFailed},
	"segment.ErrFuture":           {segment.ErrFuture, statusRefused},
	"segment.ErrLine":             {segment.ErrLine, statusRefused},
	"segment.ErrTooLarge":         {segment.ErrTooLarge, statusRefused},
	"segment.ErrVersion":          {segment.ErrVersion, statusFailed}, // nothing is damaged: docket is too old
	"session.ErrBadID":            {session.ErrBadID, statusRefused},
	"session.ErrDeclaration":      {session.ErrDeclaration, statusRefused},
	"session.ErrExists":           {session.ErrExists, statusRefused},
	"session.ErrField":            {session.ErrField, statusRefused},
	"session.ErrInDoubt":          {session.ErrInDoubt, statusFailed},
	"session.ErrNotFound":         {session.ErrNotFound, statusNotFound},
	"session.ErrRetired":          {session.ErrRetired, statusRefused},
	"session.ErrTooLarge":         {session.ErrTooLarge, statusRefused},
	"session.ErrUnreadable":       {session.ErrUnreadable, statusCorrupt},
	"session.ErrUnsafe":           {session.ErrUnsafe, statusFailed},
	"timeline.ErrClosed":          {timeline.ErrClosed, statusNotFound},
	"timeline.ErrCorrupt":         {timeline.ErrCorrupt, statusCorrupt},
	"timeline.ErrEntry":           {timeline.ErrEntry, statusRefused},
	"timeline.ErrForeignCursor":   {timeline.ErrForeignCursor, statusRefused},
	"timeline.ErrFutureCursor":    {timeline.ErrFutureCursor, statusRefused},
	"timeline.ErrMalformedCursor": {timeline.ErrMalformedCursor, statusRefused},
	"timeline.ErrText":            {timeline.ErrText, statusRefused},
	"timeline.ErrTooLarge":        {timeline.ErrTooLarge, statusRefused},
	"turn.ErrActive":              {turn.ErrActive, statusRefused},
	"turn.ErrBarrier":             {turn.ErrBarrier, statusFailed},
	"turn.ErrEvent":               {turn.ErrEvent, statusRefused},
	"turn.ErrFaulted":             {turn.ErrFaulted, statusFailed},
	"turn.ErrFinished":            {turn.ErrFinished, statusRefused},
	"turn.ErrInvalid":             {turn.ErrInvalid, statusCorrupt},
	"turn.ErrKind":                {turn.ErrKind, statusFailed}, // nothing is damaged: docket is too old
	"turn.ErrReplayed":            {turn.ErrReplayed, statusFailed},
	"turn.ErrTerminalConflict":    {turn.ErrTerminalConflict, statusRefused},
	"turn.ErrText":                {turn.ErrText, statusRefused},
	"turn.ErrVersion":             {turn.ErrVersion, statusFailed},
	"turn.ErrWriter":              {turn.ErrWriter, statusFailed},
	"turn.ErrWriterClosed":        {turn.ErrWriterClosed, statusFailed},
	"watching.ErrAway":            {watching.ErrAway, statusFailed},
	"watching.ErrCorrupt":         {watching.ErrCorrupt, statusCorrupt},
	"watching.ErrNotWatching":     {watching.ErrNotWatching, statusNotFound},
	"watching.ErrSelf":            {watching.ErrSelf, statusRefused},
	"watching.ErrVersion":         {watching.ErrVersion, statusFailed}, // nothing is damaged: docket is too old
}

func TestStatusOfSentinels(t *testing.T) {
	for name, tt := range statuses {
		if got := statusOf(fmt.Errorf("session s: %w", tt.err)); got != tt.status {
			t.Errorf("%s: got status %d, want %d", name, got, tt.status)
		}
	}
}

func TestStatusOfTypedErrors(t *testing.T) {
	cause := errors.New("cause")
	for _, tt := range []struct {
		err  error
		want int
	}{
		{nil, statusDone},
		{cause, statusFailed},
		{usagef("what"), statusUsage},
		{&adapter.SettingError{Err: cause}, statusRefused},
		{&queue.CorruptError{Err: cause}, statusCorrupt},
		{&queue.WriteError{Err: cause}, statusFailed},
		{&timeline.LineError{Err: cause}, statusCorrupt},
		{&timeline.TooLargeError{}, statusRefused},
		{&segment.CorruptError{Err: cause}, statusCorrupt},
		{&session.RecordError{Err: cause}, statusCorrupt},
		{&session.UnsafeError{}, statusFailed},
		{&watching.CorruptError{Err: cause}, statusCorrupt},
		{&turn.InvalidError{Err: turn.ErrVersion}, statusFailed},
		{&turn.InvalidError{Err: cause}, statusCorrupt},
		{&turn.WriterError{Err: lock.ErrBusy}, statusFailed},
		{&lock.TimeoutError{}, statusDeadline},
		{&dispatch.PassError{Err: adapter.ErrBusy}, statusFailed}, // drain and send look at it before that
		{&dispatch.PassError{Err: dispatch.ErrReceipt}, statusCorrupt},
		{context.DeadlineExceeded, statusDeadline},
		{context.Canceled, statusFailed},
		{fs.ErrPermission, statusFailed},
		{fmt.Errorf("%w: %w", dispatch.ErrInDoubt, queue.ErrCorrupt), statusFailed}, // it was written: no refusal
	} {
		if got := statusOf(tt.err); got != tt.want {
			t.Errorf("%v: got status %d, want %d", tt.err, got, tt.want)
		}
	}
}

// A sentinel that a package gains must be given a status.
func TestStatusKnowsEverySentinel(t *testing.T) {
	for _, s := range sources(t) {
		pkg := s.file.Name.Name
		if s.isTest() || layer(s.dir()) >= layer("cmd") || strings.HasPrefix(s.dir(), "adapter/") {
			continue
		}
		for _, decl := range s.file.Decls {
			for _, name := range errorsIn(decl) {
				if _, ok := statuses[pkg+"."+name]; !ok {
					t.Errorf("%s.%s has no row in statuses", pkg, name)
				}
			}
		}
	}
}

// errorsIn returns the exported variables Err... that decl declares.
func errorsIn(decl ast.Decl) (names []string) {
	vars, ok := decl.(*ast.GenDecl)
	if !ok || vars.Tok != token.VAR {
		return nil
	}
	for _, spec := range vars.Specs {
		for _, name := range spec.(*ast.ValueSpec).Names {
			if strings.HasPrefix(name.Name, "Err") {
				names = append(names, name.Name)
			}
		}
	}
	return names
}
