package oneshot_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/oneshot"
)

var (
	succeeded   = &host.Finished{Outcome: host.Success}
	outOfTokens = &host.Finished{Outcome: host.Failure, Code: oneshot.CodeMaxTokens, Diagnostic: "the answer reached the limit of tokens"}
	senseless   = &host.Finished{Outcome: host.Failure, Code: oneshot.CodeProtocol, Diagnostic: "the program ended the turn for a reason that is not known"}
)

func failed(code, text string) *host.Finished {
	return &host.Finished{Outcome: host.Failure, Code: code, Diagnostic: text}
}

// streams are what the programs print, in the forms of the versions that the tests of
// real programs install; those of Claude are by its documentation.
var streams = []struct {
	preset  oneshot.Preset
	name    string
	resumed bool
	stream  string
	want    []string
	end     *host.Finished // nil: interrupted
}{
	{oneshot.Codex, "an answer", false, codexBegin + `
{"type":"item.completed","item":{"id":"item_1","type":"reasoning","text":"**Thinking**"}}
{"type":"item.completed","item":{"id":"item_2","type":"agent_message","text":"say \"hello\" <&>"}}
{"type":"turn.completed","usage":{"input_tokens":22,"cached_input_tokens":4,"output_tokens":10,"reasoning_output_tokens":3}}`,
		[]string{"warning Model metadata for `stub` not found.", "thought **Thinking**", `text say "hello" <&>`, "usage 22/4 10/3 32"}, succeeded},
	{oneshot.Codex, "a conversation that goes on tells all its cost", true, codexBegin + `
{"type":"turn.completed","usage":{"input_tokens":2200,"output_tokens":10}}`, []string{"warning Model metadata for `stub` not found."}, succeeded},
	{oneshot.Codex, "tools", false, turnStarted + `
{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"/bin/bash -lc 'echo PLANTED'","aggregated_output":"","exit_code":null,"status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"/bin/bash -lc 'echo PLANTED'","aggregated_output":"PLANTED\n","exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"item_2","type":"command_execution","command":"PLANTED","aggregated_output":"PLANTED","exit_code":1,"status":"failed"}}
{"type":"item.completed","item":{"id":"item_3","type":"file_change","changes":[{"path":"/w/PLANTED","kind":"add"}],"status":"completed"}}
{"type":"item.started","item":{"id":"item_4","type":"mcp_tool_call","server":"PLANTED","tool":"find_issue","arguments":{"q":"PLANTED"},"result":null,"error":null,"status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_5","type":"web_search","query":"PLANTED"}}
{"type":"item.updated","item":{"id":"item_6","type":"todo_list","items":[{"text":"PLANTED","completed":false}]}}`,
		[]string{"tool item_1 command execute running", "tool item_1 command execute done", "tool item_2 command execute failed",
			"tool item_3 file_change edit done", "tool item_4 find_issue other running", "tool item_5 web_search fetch done"}, nil},
	{oneshot.Codex, "a failure after retries", false, codexBegin + `
{"type":"error","message":"Reconnecting... 1/1 (stream disconnected)"}
{"type":"turn.failed","error":{"message":"{\"error\":{\"code\":400,\"message\":\"no such model\",\"secret\":\"PLANTED\"}}"}}`,
		[]string{"warning Model metadata for `stub` not found.", "warning Reconnecting... … (stream disconnected)"}, failed(oneshot.CodeAgentError, "no such model")},

	{oneshot.OpenCode, "an answer", false, `{"type":"step_start","sessionID":"ses_1","part":{"id":"prt_1","type":"step-start"}}
{"type":"reasoning","sessionID":"ses_1","part":{"id":"prt_2","type":"reasoning","text":"hm"}}
{"type":"text","sessionID":"ses_1","part":{"id":"prt_3","type":"text","text":"ACK","time":{"start":1,"end":2}}}
{"type":"step_finish","sessionID":"ses_1","part":{"id":"prt_4","reason":"stop","type":"step-finish","tokens":{"total":21,"input":11,"output":3,"reasoning":2,"cache":{"write":1,"read":4}},"cost":0}}`,
		[]string{"thought hm", "text ACK", "usage 16/4 5/2 21"}, succeeded},
	{oneshot.OpenCode, "a step after a tool", false, opencodeTool + `
{"type":"step_start","sessionID":"ses_1","part":{}}
{"type":"step_finish","sessionID":"ses_1","part":{"reason":"stop","tokens":{"total":16,"input":11,"output":5}}}`,
		[]string{"tool call_1 bash execute done", "tool call_2 read read failed", "usage 11/0 5/0 16", "usage 22/0 10/0 32"}, succeeded},
	{oneshot.OpenCode, "killed after a tool", false, opencodeTool,
		[]string{"tool call_1 bash execute done", "tool call_2 read read failed", "usage 11/0 5/0 16"}, nil},
	{oneshot.OpenCode, "killed in a later step", false, opencodeStop + "\n" + `{"type":"step_start","sessionID":"ses_1","part":{}}`, nil, nil},
	{oneshot.OpenCode, "too long an answer", false, strings.Replace(opencodeStop, "stop", "length", 1), nil, outOfTokens},
	{oneshot.OpenCode, "a filter", false, strings.Replace(opencodeStop, "stop", "content-filter", 1), nil, failed(oneshot.CodeRefused, "the answer was filtered")},
	{oneshot.OpenCode, "a reason that nobody knows", false, strings.Replace(opencodeStop, "stop", "moon", 1), nil, senseless},
	{oneshot.OpenCode, "an error", false, `{"type":"error","sessionID":"ses_1","error":{"name":"APIError","data":{"message":"fakemodel status 500","statusCode":500,"responseBody":"PLANTED","metadata":{"url":"http://PLANTED"}}}}`,
		nil, failed(oneshot.CodeAgentError, "fakemodel status 500")},
	{oneshot.OpenCode, "no login", false, `{"type":"error","sessionID":"ses_1","error":{"name":"ProviderAuthError","data":{"message":"key sk-PLANTED1 is bad"}}}`,
		nil, failed(oneshot.CodeAuthRequired, "key … is bad")},
	{oneshot.OpenCode, "stopped", false, `{"type":"error","sessionID":"ses_1","error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}}`,
		nil, &host.Finished{Outcome: host.Cancelled, Diagnostic: "Aborted"}},

	{oneshot.Gemini, "an answer with a tool", false, geminiBegin + `
{"type":"tool_use","tool_name":"list_directory","tool_id":"ls_1","parameters":{"dir_path":"PLANTED"}}
{"type":"tool_result","tool_id":"ls_1","status":"success","output":"PLANTED"}
{"type":"tool_use","tool_name":"run_shell_command","tool_id":"sh_1","parameters":{"command":"PLANTED"}}
{"type":"tool_result","tool_id":"sh_1","status":"error","output":"PLANTED","error":{"type":"x","message":"PLANTED"}}
{"type":"message","role":"assistant","content":"one ","delta":true}
{"type":"message","role":"assistant","content":"two","delta":true}
{"type":"error","severity":"warning","message":"Loop detected"}
{"type":"result","status":"success","stats":{"total_tokens":32,"input_tokens":22,"output_tokens":10,"cached":3,"input":19,"duration_ms":494,"tool_calls":1}}`,
		[]string{"tool ls_1 list_directory read running", "tool ls_1 list_directory read done",
			"tool sh_1 run_shell_command execute running", "tool sh_1 run_shell_command execute failed",
			"text one ", "text two", "warning Loop detected", "usage 22/3 10/0 32"}, succeeded},
	{oneshot.Gemini, "an error", false, geminiBegin + `
{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: {\"error\":{\"code\":400,\"message\":\"fakemodel status 400\",\"status\":\"PLANTED\"}}]"},"stats":{}}`,
		nil, failed(oneshot.CodeAgentError, "fakemodel status 400")},
	{oneshot.Gemini, "too many requests", false, `{"type":"result","status":"error","error":{"type":"FatalTurnLimitedError","message":"Reached max session turns"}}`,
		nil, failed(oneshot.CodeMaxTurnRequests, "Reached max session turns")},
	{oneshot.Gemini, "a result without a status", false, `{"type":"result"}`, nil, senseless},
	{oneshot.Gemini, "cut", false, geminiBegin + "\n" + `{"type":"message","role":"assistant","content":"half","delta":true}`, []string{"text half"}, nil},

	{oneshot.Pi, "an answer with a tool", false, piBegin + `
{"type":"message_update","assistantMessageEvent":{"type":"toolcall_delta","delta":"PLANTED"}}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"PLANTED"}}],"usage":{"input":11,"output":5,"cacheRead":2,"cacheWrite":1,"totalTokens":19},"stopReason":"toolUse"}}
{"type":"tool_execution_start","toolCallId":"c1","toolName":"bash","args":{"command":"PLANTED"}}
{"type":"tool_execution_update","toolCallId":"c1","toolName":"bash","args":{"command":"PLANTED"},"partialResult":{"content":[{"type":"text","text":"PLANTED"}]}}
{"type":"tool_execution_end","toolCallId":"c1","toolName":"bash","result":{"content":[{"type":"text","text":"PLANTED"}]},"isError":true}
{"type":"message_end","message":{"role":"toolResult","toolCallId":"c1","content":[{"type":"text","text":"PLANTED"}],"isError":true}}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"ACK"}],"usage":{"input":11,"output":5,"totalTokens":16},"stopReason":"stop","responseId":"r1"}}
{"type":"turn_end","message":{"role":"assistant","content":[{"type":"text","text":"ACK"}],"stopReason":"stop"},"toolResults":[]}
{"type":"agent_end","messages":[{"role":"user","content":[{"type":"text","text":"PLANTED"}]}]}`,
		[]string{"usage 14/2 5/0 19", "tool c1 bash execute running", "tool c1 bash execute failed", "thought hm", "text ACK", "usage 25/2 10/0 35"}, succeeded},
	{oneshot.Pi, "a retry that helps", false, piBegin + piError + piRetry + `{"type":"agent_start"}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"ACK"}],"stopReason":"stop"}}
{"type":"auto_retry_end","success":true,"attempt":1}
{"type":"agent_end","messages":[]}`, []string{"warning retry 500 no model", "text ACK"}, succeeded},
	{oneshot.Pi, "retries that do not", false, piBegin + piError + piRetry + `{"type":"agent_start"}` + piError + `
{"type":"auto_retry_end","success":false,"attempt":1,"finalError":"500 no model"}`, []string{"warning retry 500 no model"}, failed(oneshot.CodeAgentError, "500 no model")},
	{oneshot.Pi, "no retry", false, piBegin + piError, nil, failed(oneshot.CodeAgentError, "500 no model")},
	{oneshot.Pi, "killed before a retry", false, piBegin + piError + piRetry, []string{"warning retry 500 no model"}, nil},
	{oneshot.Pi, "a retry that is given up", false, piBegin + piError + piRetry + `{"type":"auto_retry_end","success":false}`,
		[]string{"warning retry 500 no model"}, failed(oneshot.CodeAgentError, "500 no model")},
	{oneshot.Pi, "too long an answer", false, piBegin + strings.Replace(piError, `"error"`, `"length"`, 1), nil, outOfTokens},
	{oneshot.Pi, "stopped", false, piBegin + strings.Replace(piError, `"error"`, `"aborted"`, 1), nil, &host.Finished{Outcome: host.Cancelled, Diagnostic: "500 no model"}},
	{oneshot.Pi, "an end without an answer", false, piBegin + `{"type":"agent_end"}`, nil, senseless},

	{oneshot.Claude, "an answer with a tool", false, claudeBegin + `
{"type":"assistant","message":{"id":"msg_1","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"PLANTED"},{"type":"text","text":"Let me look."}]},"parent_tool_use_id":null,"session_id":"c-1"}
{"type":"assistant","message":{"id":"msg_1","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"PLANTED"}}]},"parent_tool_use_id":null,"session_id":"c-1"}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"PLANTED","is_error":true}]},"session_id":"c-1"}
{"type":"assistant","message":{"id":"msg_2","role":"assistant","content":[{"type":"text","text":"PLANTED"}]},"parent_tool_use_id":"toolu_1","session_id":"c-1"}
{"type":"user","message":{"role":"user","content":"PLANTED"},"session_id":"c-1"}
{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"num_turns":2,"result":"Done.","session_id":"c-1","total_cost_usd":0.1,"usage":{"input_tokens":3,"cache_creation_input_tokens":2,"cache_read_input_tokens":4,"output_tokens":5},"permission_denials":[{"tool_name":"Write","tool_input":"PLANTED"}]}`,
		[]string{"thought hm", "text Let me look.", "tool toolu_1 Bash execute running", "tool toolu_1 Bash execute failed", "usage 9/4 5/0 14", "result Done."}, succeeded},
	{oneshot.Claude, "an error that calls itself a success", false, claudeBegin + `
{"type":"result","subtype":"success","is_error":true,"result":"API Error: 500 {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"Overloaded\"},\"request_id\":\"PLANTED\"}"}`,
		nil, failed(oneshot.CodeAgentError, "Overloaded")},
	{oneshot.Claude, "too many turns", false, claudeBegin + "\n" + `{"type":"result","subtype":"error_max_turns","is_error":true}`,
		nil, failed(oneshot.CodeMaxTurnRequests, "the turn reached the limit of requests to the model")},
	{oneshot.Claude, "its budget", false, claudeBegin + "\n" + `{"type":"result","subtype":"error_max_budget_usd","is_error":true}`,
		nil, failed(oneshot.CodeBudget, "the turn reached the limit of its cost")},
	{oneshot.Claude, "an error", false, claudeBegin + "\n" + `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["PLANTED"]}`,
		nil, failed(oneshot.CodeAgentError, "")},
	{oneshot.Claude, "a success that does not say whether it is one", false, claudeBegin + "\n" + `{"type":"result","subtype":"success"}`, nil, senseless},
	{oneshot.Claude, "cut", false, claudeBegin, nil, nil},
}

const (
	codexBegin = `{"type":"thread.started","thread_id":"01a2-9fe"}
{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata for ` + "`stub`" + ` not found.\nPLANTED"}}
{"type":"turn.started"}`

	opencodeTool = `{"type":"step_start","sessionID":"ses_1","part":{}}
{"type":"tool_use","sessionID":"ses_1","part":{"type":"tool","tool":"bash","callID":"call_1","state":{"status":"completed","input":{"command":"PLANTED"},"output":"PLANTED","metadata":{"output":"PLANTED"},"title":"PLANTED"}}}
{"type":"tool_use","sessionID":"ses_1","part":{"type":"tool","tool":"read","callID":"call_2","state":{"status":"error","input":{"filePath":"PLANTED"},"error":"PLANTED"}}}
{"type":"step_finish","sessionID":"ses_1","part":{"reason":"tool-calls","tokens":{"total":16,"input":11,"output":5}}}`

	opencodeStop = `{"type":"step_finish","sessionID":"ses_1","part":{"reason":"stop"}}`

	geminiBegin = `{"type":"init","timestamp":"2026-01-02T03:04:05.000Z","session_id":"g-1","model":"gemini-2.5-flash"}
{"type":"message","timestamp":"2026-01-02T03:04:05.000Z","role":"user","content":"PLANTED"}`

	piBegin = `{"type":"session","version":3,"id":"p-1","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/w/PLANTED"}
{"type":"agent_start"}
{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":"PLANTED"}]}}
`
	piError = `
{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"500 no model"}}
{"type":"agent_end","messages":[]}
`
	piRetry = `{"type":"auto_retry_start","attempt":1,"maxAttempts":3,"delayMs":2000,"errorMessage":"500 no model"}
`

	claudeBegin = `{"type":"system","subtype":"init","session_id":"c-1","cwd":"/w/PLANTED","tools":["Bash"],"mcp_servers":[],"model":"m","permissionMode":"default","apiKeySource":"PLANTED"}`
)

// TestStreams maps what the programs print. None of it shows what a tool got or gave.
func TestStreams(t *testing.T) {
	for _, tt := range streams {
		t.Run(tt.preset.Name+"/"+tt.name, func(t *testing.T) {
			values, begun, end := oneshot.Told(tt.preset, tt.resumed, tt.stream+"\n")
			got := show(values)
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			if !begun {
				t.Error("got no begin, want one")
			}
			switch {
			case end == nil || tt.end == nil:
				if end != tt.end {
					t.Errorf("got the end %+v, want %+v", end, tt.end)
				}
			case *end != *tt.end:
				t.Errorf("got the end %+v, want %+v", *end, *tt.end)
			}
			if end != nil && strings.Contains(end.Diagnostic, "PLANTED") || strings.Contains(strings.Join(got, ""), "PLANTED") {
				t.Errorf("got a planted secret in %q, %+v", got, end)
			}
		})
	}
}

// TestNoBegin has what a program prints before it works on the prompt.
func TestNoBegin(t *testing.T) {
	for name, stream := range map[string]string{
		"codex":  threadStarted + "\n" + `{"type":"error","message":"no"}`,
		"gemini": `{"type":"init","session_id":"g-1"}`,
		"pi":     `{"type":"session","id":"p-1"}`,
		"claude": `{"type":"system","subtype":"hook_started","session_id":"c-1"}`,
	} {
		p, err := oneshot.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, begun, end := oneshot.Told(p, false, stream+"\n"); begun || end != nil {
			t.Errorf("%s: got begun %v and %v, want neither", name, begun, end)
		}
	}
}
