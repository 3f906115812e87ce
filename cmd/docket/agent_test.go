package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// acpAgent is a program that speaks the Agent Client Protocol. It notes the first line
// of each prompt in the file got, and does what that line says:
//
//	wait FILE     work until the file is there
//	ask TITLE     ask for permission, with two options that are called the same, and
//	              work until the file over is there
//	big N         say N bytes
//	die           exit in the middle
//
// and says ACK and the line otherwise.
func acpAgent() {
	fmt.Fprintln(os.Stderr, "agent: here")
	a := &acpPlayer{answers: map[string]chan string{}}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m acpMessage
		check(json.Unmarshal(line, &m))
		a.take(m)
	}
}

// An acpMessage is what docket sends.
type acpMessage struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Prompt []struct{ Text string }
	}
	Result struct {
		Outcome struct{ Outcome, OptionID string }
	}
}

type acpPlayer struct {
	mu      sync.Mutex
	prompt  json.RawMessage        // the request without an answer
	answers map[string]chan string // to what was asked
}

func (a *acpPlayer) say(format string, args ...any) {
	fmt.Printf(`{"jsonrpc":"2.0",`+format+"}\n", args...)
}

func (a *acpPlayer) take(m acpMessage) {
	switch m.Method {
	case "initialize":
		a.say(`"id":%s,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"Player","version":"1"}}`, m.ID)
	case "session/new":
		a.say(`"id":%s,"result":{"sessionId":"a-1"}`, m.ID)
	case "session/load":
		a.say(`"id":%s,"result":{}`, m.ID)
	case "session/prompt":
		a.mu.Lock()
		a.prompt = m.ID
		a.mu.Unlock()
		line, _, _ := strings.Cut(m.Params.Prompt[0].Text, "\n")
		go a.work(line)
	case "session/cancel":
		a.stop("cancelled")
	case "":
		a.mu.Lock()
		answer := a.answers[string(m.ID)]
		a.mu.Unlock()
		if answer != nil {
			answer <- strings.TrimSpace(m.Result.Outcome.Outcome + " " + m.Result.Outcome.OptionID)
		}
	default:
		a.say(`"id":%s,"error":{"code":-32601,"message":"Method not found"}`, m.ID)
	}
}

// stop answers the prompt, if it has no answer yet.
func (a *acpPlayer) stop(reason string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.prompt != nil {
		a.say(`"id":%s,"result":{"stopReason":%q}`, a.prompt, reason)
		a.prompt = nil
	}
}

func (a *acpPlayer) text(text string) {
	quoted, err := json.Marshal(text)
	check(err)
	a.say(`"method":"session/update","params":{"sessionId":"a-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}}`, quoted)
}

// work does what a prompt says.
func (a *acpPlayer) work(line string) {
	got, err := os.OpenFile("got", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	check(err)
	fmt.Fprintln(got, line)
	check(got.Close())
	what, rest, _ := strings.Cut(line, " ")
	switch what {
	case "wait":
		a.text("waiting")
		waitFor(rest)
	case "ask":
		a.text("chose " + a.ask(rest))
		waitFor("over")
	case "big":
		n := 0
		fmt.Sscan(rest, &n)
		for range n >> 20 {
			a.text(strings.Repeat("x", 1<<20))
		}
	case "die":
		a.text("dying")
		os.Exit(3)
	default:
		a.text("ACK " + line)
	}
	a.stop("end_turn")
}

// waitFor waits until a file is there.
func waitFor(name string) {
	for tick := time.Tick(5 * time.Millisecond); ; <-tick {
		if _, err := os.Stat(name); err == nil {
			return
		}
	}
}

// ask asks for permission and returns the answer.
func (a *acpPlayer) ask(title string) string {
	answer := make(chan string, 1)
	a.mu.Lock()
	a.answers["77"] = answer
	a.mu.Unlock()
	quoted, err := json.Marshal(title)
	check(err)
	a.say(`"id":77,"method":"session/request_permission","params":{"sessionId":"a-1","toolCall":{"toolCallId":"c1","title":%s,"kind":"edit","rawInput":{"content":"PLANTED"}},`+
		`"options":[{"optionId":"yes","kind":"allow_once","name":"Yes"},{"optionId":"here","kind":"allow_always","name":"A"},`+
		`{"optionId":"all","kind":"allow_always","name":"B"},{"optionId":"no","kind":"reject_once","name":"No"}]}`, quoted)
	return <-answer
}
