package oneshot

import (
	"time"

	"github.com/docket-go/docket/adapter/host"
)

// read takes the events until the output ends, sees to the end of the process, and
// ends the turn.
func (r *run) read() {
	in := host.NewLines(r.process, r.a.options.MaxLineBytes)
	for {
		line, whole, err := in.Next()
		if err != nil {
			break
		}
		r.take(line, whole)
	}
	_ = r.process.Close() // it may have closed its output alone
	if r.linger != nil {
		r.linger.Stop()
	}
	r.process.Stdout.Close()
	close(r.ended)
	<-r.decided
	if r.wanted {
		r.finish()
	}
	close(r.over)
}

// take maps one line. What comes after the end of the turn is passed over.
func (r *run) take(line []byte, whole bool) {
	to := &r.account
	if to.final {
		return
	}
	if !whole {
		line = host.WholeFields(line) // an end of the turn is not missed for its length
		to.emit("", host.Diagnostic{Severity: host.Warning, Code: CodeUpdateLost, Text: "an event of the program was too long to be read"})
	}
	r.mapper.take(line, to)
	if to.begun {
		r.tell()
	}
	if to.final {
		r.linger = time.AfterFunc(r.a.options.ExitGrace, r.process.Terminate)
	}
}

// tell emits what was mapped. The first time it waits until somebody wants it.
func (r *run) tell() {
	select {
	case <-r.begun:
	default:
		close(r.begun)
	}
	<-r.decided
	waiting := r.account.waiting
	r.account.waiting = nil
	if !r.wanted {
		return
	}
	r.keep()
	if r.t.notice != nil {
		r.t.sink.Emit(r.native(""), *r.t.notice)
		r.t.notice = nil
	}
	for _, e := range waiting {
		r.t.sink.Emit(r.native(e.item), e.value)
	}
}

// keep stores the id of the conversation when it is another one.
func (r *run) keep() {
	id := r.account.session
	if !r.account.begun || id == "" || id == r.kept {
		return
	}
	if err := r.a.keep(id, r.stored); err != nil {
		r.t.sink.Emit(r.native(""), host.Diagnostic{
			Severity: host.Warning, Code: CodeContextUnsaved,
			Text: "the id of the conversation could not be stored: the next message may begin a new one",
		})
	}
	r.kept = id
}

func (r *run) native(item string) host.Native {
	return host.Native{Provider: r.a.preset.Name, Session: r.account.session, Item: item}
}

// finish ends the turn by the event that ended it. Without one it is not known how far
// the program came.
func (r *run) finish() {
	r.a.mu.Lock()
	interrupted := r.t.interrupted
	r.a.spent = spending{r.account.session, r.account.spent}
	r.a.mu.Unlock()
	if !r.account.begun && !interrupted && r.stored != "" {
		r.a.doubt(r.stored, 1)
	}
	r.tell() // what a program said that never began
	end := r.account.end
	switch {
	case end == nil && interrupted:
		end = &host.Finished{Outcome: host.Cancelled}
	case end == nil:
		end = &host.Finished{Outcome: host.Interrupted, Code: host.CodeAgentExited, Diagnostic: r.process.Err().Error()}
	case interrupted && end.Outcome == host.Failure:
		end.Outcome = host.Cancelled
	}
	r.a.over(r.t)
	r.t.sink.Finish(r.native(""), *end)
}
