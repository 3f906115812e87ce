// Package browsertest looks at a page in a real browser, as the tests of package
// httpread and of the command line do.
//
// # What it keeps
//
// A headless Chromium for the length of one test, with a profile in a temporary
// directory. Tests skip where there is no Chromium. With the environment variable
// DOCKET_SCREENSHOTS naming a folder, [Tab.Shoot] leaves pictures there for people.
//
// # Guarantees
//
// Each [Tab] has a storage of its own. What a page must not do, an exception or a load
// that its policy refuses, is noted and fails the test at [Tab.Quiet].
//
// # Crashes and format
//
// A test that is killed leaves the profile behind. The browser, which is driven by its
// own protocol over a pipe, ends with it.
package browsertest

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// screenshots is the environment variable that names a folder for pictures of what
// the tests of the page saw, for people to look at.
const screenshots = "DOCKET_SCREENSHOTS"

// A Browser is a headless Chromium, driven by its own protocol over a pipe: that
// needs no library and no port.
type Browser struct {
	t    *testing.T
	in   *os.File
	out  *bufio.Reader
	raw  *os.File
	last int
}

// Launch starts the browser, or skips the test where there is none.
func Launch(t *testing.T) *Browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" || runtime.GOOS == "windows" {
		t.Skip("no chromium on the PATH that takes commands by a pipe: the page is not looked at")
	}
	fromTest, in := pipe(t)
	out, toTest := pipe(t)
	c := exec.Command(program, "--headless", "--remote-debugging-pipe", "--user-data-dir="+profile(t),
		"--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--disable-dev-shm-usage", "--no-proxy-server", "--hide-scrollbars", "about:blank")
	if os.Getuid() == 0 {
		c.Args = append(c.Args, "--no-sandbox") // it has none for root
	}
	c.ExtraFiles = []*os.File{fromTest, toTest}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	fromTest.Close()
	toTest.Close()
	b := &Browser{t: t, in: in, out: bufio.NewReader(out), raw: out}
	t.Cleanup(func() {
		fmt.Fprint(b.in, `{"id":0,"method":"Browser.close"}`, "\x00")
		late := time.AfterFunc(time.Minute, func() { c.Process.Kill() })
		defer late.Stop()
		c.Wait()
	})
	return b
}

// profile makes a directory for the browser. Processes of it may write there for a
// moment after it ended.
func profile(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "httpread")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 1000 {
			if os.RemoveAll(dir) == nil {
				return
			}
			runtime.Gosched()
		}
		t.Logf("%s is left behind", dir)
	})
	return dir
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		w.Close()
	})
	return r, w
}

// A message is an answer or an event of the browser.
type message struct {
	ID     int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

// call asks the browser and decodes its answer. Events that come before it go to
// seen, which may be nil.
func (b *Browser) call(session, method string, params any, result any, seen ...func(message)) {
	b.t.Helper()
	b.last++
	ask := map[string]any{"id": b.last, "method": method}
	if params != nil {
		ask["params"] = params
	}
	if session != "" {
		ask["sessionId"] = session
	}
	line, err := json.Marshal(ask)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(line, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	b.raw.SetReadDeadline(time.Now().Add(time.Minute))
	for {
		line, err := b.out.ReadBytes(0)
		if err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
		var m message
		if err := json.Unmarshal(bytes.TrimSuffix(line, []byte{0}), &m); err != nil {
			b.t.Fatal(err)
		}
		for _, s := range seen {
			s(m)
		}
		if m.ID != b.last {
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatal(err)
			}
		}
		return
	}
}

// A Tab is one page of the browser.
type Tab struct {
	t       *testing.T
	b       *Browser
	session string
	faults  []string // what the page complained about: exceptions, refused loads
}

// Open opens url in a tab of the given size.
func (b *Browser) Open(t *testing.T, url string, width, height int) *Tab {
	t.Helper()
	var target struct{ TargetID, SessionID string }
	var context struct{ BrowserContextID string }
	b.call("", "Target.createBrowserContext", nil, &context) // with a storage of its own
	b.call("", "Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": context.BrowserContextID}, &target)
	b.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	p := &Tab{t: t, b: b, session: target.SessionID}
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		p.call(domain+".enable", nil, nil)
	}
	p.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	p.call("Page.navigate", map[string]any{"url": url}, nil)
	t.Cleanup(func() { b.call("", "Target.closeTarget", map[string]any{"targetId": target.TargetID}, nil) })
	return p
}

func (p *Tab) call(method string, params, result any) {
	p.t.Helper()
	p.b.call(p.session, method, params, result, p.complain)
}

func (p *Tab) complain(m message) {
	var said struct {
		Entry            struct{ Level, Text, URL string }
		ExceptionDetails struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	if m.Method == "Log.entryAdded" || m.Method == "Runtime.exceptionThrown" {
		json.Unmarshal(m.Params, &said)
		if m.Method == "Runtime.exceptionThrown" || said.Entry.Level == "error" {
			p.faults = append(p.faults, said.Entry.Text+" "+said.Entry.URL+said.ExceptionDetails.Text+said.ExceptionDetails.Exception.Description)
		}
	}
}

// Eval returns what the expression gives, as text.
func (p *Tab) Eval(expression string) string {
	p.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	p.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	if r.ExceptionDetails != nil {
		p.t.Fatalf("%s: %s", expression, r.ExceptionDetails.Exception.Description)
	}
	return fmt.Sprint(r.Result.Value)
}

// Until waits for the expression to be true.
func (p *Tab) Until(expression string) {
	p.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for p.Eval("(() => { try { return !!("+expression+") } catch { return false } })()") != "true" {
		select {
		case <-tick.C:
		case <-deadline:
			p.Shoot("failed")
			p.t.Fatalf("never true: %s\n%v\n%s", expression, p.faults, p.Eval("document.body.innerText"))
		}
	}
}

// Type types into what has the focus.
func (p *Tab) Type(text string) {
	p.t.Helper()
	p.call("Input.insertText", map[string]any{"text": text}, nil)
}

// Press presses a key; ctrl is 2.
func (p *Tab) Press(key string, code, modifiers int) {
	p.t.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		event := map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
		if key == "Enter" && modifiers == 0 && kind == "keyDown" {
			event["text"] = "\r"
		}
		p.call("Input.dispatchKeyEvent", event, nil)
	}
}

// Shoot takes a picture, if somebody wants to look at it.
func (p *Tab) Shoot(name string) {
	p.t.Helper()
	dir := os.Getenv(screenshots)
	if dir == "" {
		return
	}
	var shot struct{ Data string }
	p.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	b, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), b, 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// Dark makes the tab one of a person who prefers dark, or light.
func (p *Tab) Dark(on bool) {
	p.t.Helper()
	value := "light"
	if on {
		value = "dark"
	}
	p.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": value}}}, nil)
}

// Quiet checks that the page complained about nothing.
func (p *Tab) Quiet() {
	p.t.Helper()
	p.Eval("1") // reads what was said until now
	if len(p.faults) > 0 {
		p.t.Errorf("the page complained: %q", p.faults)
	}
}
