package oneshot

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/docket-go/docket/adapter/host"
)

// A Preset says how one kind of program takes a prompt, goes on with a conversation,
// and tells what comes of it. The package has one for each program that it knows; see
// [Presets].
type Preset struct {
	// Name is what people call it by, and the provider of what it emits.
	Name string

	// Doc says in a line what it runs.
	Doc string

	// Command is the program with the arguments that make it take one prompt from its
	// standard input and print events. Nothing in it grants a permission.
	Command []string

	begin  []string // what follows Command when a conversation begins
	resume []string // what follows it when one goes on; idHere stands for its id

	// early says that the program prints an event that proves that it has begun with
	// the prompt, before it asks a model.
	early bool

	mapper func(past) mapper
}

// A past is what is known of the conversation before a process.
type past struct {
	goesOn bool        // there was something
	spent  *host.Usage // on all of it; nil if that is not known
}

// idHere stands for the id of the conversation in [Preset.resume].
const idHere = "{id}"

// ErrPreset is returned by [Find] for a name that no preset has.
var ErrPreset = errors.New("oneshot: no such preset")

// Presets returns all presets, in the order of their names.
func Presets() []Preset { return []Preset{Claude, Codex, Gemini, OpenCode, Pi} }

// Find returns the preset of that name. The error is [ErrPreset] and says which there
// are.
func Find(name string) (Preset, error) {
	var names []string
	for _, p := range Presets() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Preset{}, fmt.Errorf("%w: %q: use one of %s", ErrPreset, name, strings.Join(names, ", "))
}

// args returns the whole command for a prompt. An id of "" begins a conversation.
func (p Preset) args(command []string, id string) []string {
	if len(command) == 0 {
		command = p.Command
	}
	if id == "" {
		return slices.Concat(command, p.begin)
	}
	more := slices.Clone(p.resume)
	for i, arg := range more {
		if arg == idHere {
			more[i] = id
		}
	}
	return slices.Concat(command, more)
}

// A mapper makes canonical values of the events of one kind of program. It is made
// for one process, gets its lines in order, and must survive any bytes.
type mapper interface {
	take(line []byte, to *account)
}
