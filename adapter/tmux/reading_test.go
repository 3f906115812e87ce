package tmux_test

import (
	"testing"

	"github.com/docket-go/docket/adapter/tmux"
)

// The screens stand in one table, long as it is, so that one program's can be
// compared with another's.
func TestReadingOfScreens(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, profile, program, screen, want string
	}{
		{"nothing at all", "generic", "reader", "▮", "idle"},
		{"cat", "generic", "cat", "hello\nhello\n▮", "idle"},
		{"cat with a draft", "generic", "cat", "hello\nhello\nhalf a▮", "draft"},
		{"sign", "generic", "repl", "> ▮", "idle"},
		{"sign with a draft", "generic", "repl", "> hi▮", "draft"},
		{"draft whose cursor went home", "generic", "repl", "> ▮hi", "draft"},
		{"prompt of a word", "generic", "psql", "mydb=# ▮", "idle"},
		{"output without an end", "generic", "make", "compiling ...▮", "draft"},
		{"three signs with a faint hint", "generic", "ollama", ">>> ▮\x1b[38;5;245mSend a message (/? for help)\x1b[0m", "idle"},

		{"shell", "generic", "bash", "user@host:~$ ▮", "shell"},
		{"shell with a picture", "generic", "zsh", "❯ ▮", "shell"},
		{"script of a shell", "generic", "sh", "ready\n▮", "idle"},
		{"script with a sign", "generic", "sh", "> ▮", "idle"},

		{"claude", "claude", "claude", "⏺ Done.\n\n╭────────╮\n│ > \x1b[7mT\x1b[27m\x1b[2mry \"fix lint\"\x1b[0m │\n╰────────╯\n  ? for shortcuts", "idle"},
		{"claude without a box", "claude", "node", "────────\n❯\u00a0\n────────\n  ? for shortcuts", "idle"},
		{"claude without a profile", "generic", "node", "────────\n❯\u00a0\n────────\n  ? for shortcuts", "idle"},
		{"claude, draft", "claude", "claude", "────────\n❯ half a\n────────", "draft"},
		{"claude, draft in the second row", "claude", "claude", "────────\n❯\u00a0\n  second\n────────", "draft"},
		{"claude, one inverse rune", "claude", "claude", "────────\n❯ \x1b[7mx\x1b[27m\n────────", "draft"},
		{"claude at work", "claude", "claude", "✻ Thinking… (3s · esc to interrupt)\n\n────────\n❯ \n────────", "busy"},
		{"claude asks", "claude", "claude", "────────\n Bash command\n\n   rm -rf build\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. Yes, and don't ask again\n   3. No\n\n Esc to cancel", "dialog"},
		{"claude, trust", "claude", "claude", "Do you trust the files in this folder?\n❯ 1. Yes, proceed\n  2. No, exit\n\nEnter to confirm · Esc to exit", "dialog"},

		{"codex", "codex", "codex", "• Done.\n\n› ▮\x1b[2mExplain this codebase\x1b[0m\n\n  ? for shortcuts", "idle"},
		{"codex, draft", "codex", "codex", "› fix it▮\n\n  100% context left", "draft"},
		{"codex, draft of two rows", "codex", "codex", "› fix it\n  ▮\n\n  100% context left", "draft"},
		{"the same, generic", "generic", "codex", "› fix it\n  ▮\n\n  100% context left", "draft"},
		{"codex at work", "codex", "codex", "• Working (0s • esc to interrupt)\n\n› ▮\x1b[2mExplain this codebase\x1b[0m", "busy"},
		{"codex asks", "codex", "codex", "  Would you like to run the following command?\n\n  $ touch x\n\n› 1. Yes, proceed (y)\n  2. No, and tell Codex what to do differently (esc)\n\n  Press enter to confirm or esc to cancel", "dialog"},

		{"gemini", "gemini", "node", "╭──────╮\n│ > \x1b[7m \x1b[27m\x1b[38;2;108;112;134m Type your message or @path/to/file\x1b[39m │\n╰──────╯\n~/x  no sandbox  gemini-2.5-flash", "idle"},
		{"gemini, hint in full colour", "gemini", "node", "╭──────╮\n│ >   Type your message or @path/to/file │\n╰──────╯", "idle"},
		{"gemini at work", "gemini", "node", "⠏ Thinking (esc to cancel, 3s)\n╭──────╮\n│ >   Type your message │\n╰──────╯", "busy"},
		{"gemini asks", "gemini", "node", "│ Allow execution of: 'touch'? │\n│ ● 1. Yes, allow once │\n│   2. Yes, allow always │\n│   3. No, suggest changes (esc) │", "dialog"},
		{"gemini in shell mode", "gemini", "node", "╭──────╮\n│ ! │\n╰──────╯", "no composer"},

		{"opencode", "opencode", "opencode", "\x1b[38;2;92;156;245m┃\x1b[0m\n┃  \x1b[38;2;128;128;128m▮Ask anything... \"Fix a bug\"\x1b[0m\n┃\n┃  Build  stub", "idle"},
		{"opencode, draft", "opencode", "opencode", "┃\n┃  half a▮\n┃\n┃  Build", "draft"},
		{"opencode, draft of two rows", "opencode", "opencode", "┃\n┃  half a\n┃  ▮\n┃  Build", "draft"},
		{"opencode asks", "opencode", "opencode", "┃  △ Permission required\n┃  Run a command\n┃\n┃  Allow once   Allow always   Reject", "dialog"},

		{"question for y or n", "generic", "apt", "Do you want to continue? [Y/n] ▮", "dialog"},
		{"question for yes or no", "generic", "ssh", "Are you sure you want to continue connecting (yes/no/[fingerprint])? ▮", "dialog"},
		{"secret", "generic", "sudo", "[sudo] password for me: ▮", "dialog"},
		{"any key", "generic", "more", "Press Enter to continue▮", "dialog"},

		{"an answer of yes in the conversation", "claude", "claude", "❯ yes\n\n⏺ No problem, done.\n\n────────\n❯ \n────────", "idle"},
		{"a list in the conversation", "claude", "claude", "⏺ Steps:\n  1. Build\n  2. Test\n\n────────\n❯ \n────────", "idle"},
		{"a question in the conversation", "claude", "claude", "⏺ Do you want me to proceed?\n\n────────\n❯ \n────────", "idle"},
		{"a dialog far up", "generic", "repl", "❯ 1. Yes\n  2. No\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n> ▮", "idle"},
		{"only conversation, no cursor", "generic", "node", "⏺ Steps:\n  loading", "no composer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tmux.Reading(tt.profile, tt.program, tt.screen); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
