package acp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter/acp"
)

// TestPlantedSecrets puts secrets wherever programs put what tools get and give, in
// the forms that real ones use.
func TestPlantedSecrets(t *testing.T) {
	f, a := open(t, whole, nil)
	s, _ := submit(context.Background(), a, "go")
	prompt := f.Expect("session/prompt")
	for _, u := range []string{
		// OpenCode: the command is the title, the output comes twice.
		`{"sessionUpdate":"tool_call","toolCallId":"1","title":"bash","kind":"execute","status":"pending","locations":[{"path":"/w"}],"rawInput":{"cwd":"/w"}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"in_progress","kind":"execute","title":"curl -H 'X-Key: PLANTED-1' https://u:PLANTED-2@h/?k=PLANTED-3","rawInput":{"command":"curl -H 'X-Key: PLANTED-1' https://u:PLANTED-2@h/?k=PLANTED-3"}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed","title":"PLANTED=4 curl","content":[{"type":"content","content":{"type":"text","text":"PLANTED-5"}}],"rawOutput":{"output":"PLANTED-5","metadata":{"output":"PLANTED-5"}}}`,
		// Gemini: no input, the title is the description of the call.
		`{"sessionUpdate":"tool_call","toolCallId":"2","status":"in_progress","title":"touch PLANTED-6","content":[{"type":"content","content":{"type":"text","text":"(PLANTED-7)"}}],"locations":[],"kind":"execute"}`,
		`{"sessionUpdate":"tool_call","toolCallId":"3","status":"in_progress","title":"'PLANTED-8' within .","locations":[],"kind":"search"}`,
		`{"sessionUpdate":"tool_call","toolCallId":"4","status":"in_progress","title":"secret/PLANTED-9.txt","locations":[],"kind":"read"}`,
		`{"sessionUpdate":"tool_call","toolCallId":"13","status":"in_progress","title":"Find PLANTED-33","rawOutput":"(note)","content":[{"type":"content","content":{"type":"text","text":"(note)"}}],"kind":"search"}`,
		// Others: quoted commands, verbs with arguments, diffs, numbers.
		"{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"5\",\"title\":\"`env PLANTED=10 make`\",\"kind\":\"execute\",\"rawInput\":{\"command\":\"env PLANTED=10 make\"}}",
		`{"sessionUpdate":"tool_call","toolCallId":"6","title":"Write PLANTED-11.md","kind":"edit","rawInput":{"abs_path":"/w/PLANTED-11.md"},"content":[{"type":"diff","path":"/w/PLANTED-11.md","oldText":"PLANTED-12","newText":"PLANTED-13"}]}`,
		`{"sessionUpdate":"tool_call","toolCallId":"7","title":"Dial 5551234567 now","kind":"other","rawInput":{"number":5551234567}}`,
		`{"sessionUpdate":"tool_call","toolCallId":"8","title":"Look at PLANTED-14","kind":"read","locations":[{"path":"/w/PLANTED-14","line":3}]}`,
		`{"sessionUpdate":"tool_call","toolCallId":"9","title":"Fetch https://h/?token=PLANTED-15","kind":"fetch","rawInput":{"something":"else"}}`,
		fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"10","title":"Send PLANTED-16","kind":"other","rawInput":{"a":%q,"b":"PLANTED-16"}}`, strings.Repeat("x", 1<<20)),
		`{"sessionUpdate":"tool_call","toolCallId":"11","title":"Send\nPLANTED-17","kind":"other","rawInput":{"a":"b c d"},"rawOutput":"PLANTED-17","_meta":{"x":"PLANTED-18"}}`,
		`{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"PLANTED-19"}]}`,
	} {
		f.update(u)
	}
	f.Say(`{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s-1","options":[
		{"optionId":"a","name":"Always allow PLANTED-20","kind":"allow_always"},{"optionId":"r","name":"Reject","kind":"reject_once"}],
		"toolCall":{"toolCallId":"12","status":"pending","title":"rm -rf PLANTED-21","content":[{"type":"content","content":{"type":"text","text":"PLANTED-22"}}],"kind":"execute","rawInput":{"command":"rm -rf PLANTED-21"},"_meta":"PLANTED-23"},"_meta":{"PLANTED-24":1}}}`)
	f.Say(`{"jsonrpc":"2.0","id":0,"method":"fs/write_text_file","params":{"sessionId":"s-1","path":"PLANTED-25","content":"PLANTED-26"}}`)
	f.Say(`{"jsonrpc":"2.0","id":` + string(prompt.ID) + `,"error":{"code":500,"message":"Incorrect API key provided: sk-PLANTED27xyzzy at https://h/PLANTED-28?key=PLANTED-29 (token PLANTED-30)\nPLANTED-31","data":{"details":"PLANTED-32"}}}`)
	end := s.End(t)
	kept := strings.Join(s.All(), "\n") + fmt.Sprintf("\n%+v %+v", end, s.Natives())
	if strings.Contains(kept, "PLANTED") || strings.Contains(kept, "5551234567") {
		t.Errorf("got a planted secret in\n%s", kept)
	}
	for _, want := range []string{`tool 1 "curl" execute done`, `permission "rm" asked [{a allow always true} {r reject once false}]`, "Incorrect API key provided"} {
		if !strings.Contains(kept, want) {
			t.Errorf("got\n%s\nwant %q in it", kept, want)
		}
	}
}

func TestTitles(t *testing.T) {
	for _, tt := range []struct{ title, class, input, want string }{
		{"Reading project files", "read", `{"path":"/project/README.md"}`, "Reading project files"},
		{"Read /a/b.md", "read", `{"path":"/a/b.md"}`, "Read …"},
		{"Read b.md", "read", `{"path":"/a/b.md"}`, "Read …"},
		{"b.md", "read", `{"path":"/a/b.md"}`, ""},
		{"Read b.md", "read", ``, "Read"},       // nobody knows what it was given
		{"b.md", "read", ``, ""},                //
		{"Read b.md", "read", `{}`, "Read"},     //
		{"Read b.md", "read", `broken`, "Read"}, //
		{"git status -s", "execute", `{"command":"git status -s"}`, "git"},
		{"/usr/bin/git status", "execute", ``, "git"},
		{"A='x y' make", "execute", ``, ""},
		{"$(cat key)", "execute", ``, ""},
		{"  `ls -l`\nmore", "execute", ``, "ls"},
		{"", "execute", `{"a":"bcd"}`, ""},
		{"content of type text", "read", `[{"type":"text","content":"abc"}]`, "content of type text"}, // names are no values
		{strings.Repeat("long ", 100), "think", `{"a":"bcd"}`, strings.TrimSpace(strings.Repeat("long ", 40))},
	} {
		if got := strings.TrimSpace(acp.Public(tt.title, tt.class, tt.input)); got != tt.want {
			t.Errorf("%q of %s with %s: got %q, want %q", tt.title, tt.class, tt.input, got, tt.want)
		}
	}
}
