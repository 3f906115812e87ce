package adapter

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrUnknownAdapter is returned by [Registry.Open] and [Registry.Settle] for a
// name that the registry does not hold.
var ErrUnknownAdapter = errors.New("adapter: unknown adapter")

// A SettingError says which setting of which adapter is wrong, and what is
// allowed instead.
type SettingError struct {
	Adapter string
	Setting string
	Allowed string // for people
	Err     error  // what is wrong; ErrUnknownSetting, ErrMissingSetting or what the check said
}

// What is wrong with a setting, where it is not its value.
var (
	ErrUnknownSetting = errors.New("unknown setting")
	ErrMissingSetting = errors.New("missing setting")
)

// Error names the adapter, the setting, the fault and what is allowed.
func (e *SettingError) Error() string {
	said := fmt.Sprintf("adapter %s: setting %s: %v", e.Adapter, e.Setting, e.Err)
	if e.Allowed != "" {
		said += ": allowed: " + e.Allowed
	}
	return said
}

// Unwrap returns the fault.
func (e *SettingError) Unwrap() error { return e.Err }

// A Setting describes one setting of a kind of adapter.
type Setting struct {
	Name     string
	Default  string // used where the session sets nothing; empty means that there is none
	Doc      string // one line for people
	Allowed  string // one line for people: which values are good
	Required bool   // an absent or empty value is an error

	// Canonical checks a value that is not empty and returns the form that means the same in every
	// process, such as the absolute path for a relative one. It is applied to
	// values that are set, never to defaults. Nil takes every value as it is.
	Canonical func(value string) (string, error)
}

// A Kind is one kind of adapter that a session can name.
type Kind struct {
	Name     string
	Doc      string    // one line for people
	Settings []Setting // without the setting "unconfirmed", which every kind has

	// Open makes the adapter of one session. It must not contact the harness.
	// The settings hold a value for every setting that has one, checked and
	// canonical. An error must mean that nothing was started.
	Open func(s Session, settings map[string]string) (Adapter, error)
}

// PolicySetting is the setting that every kind of adapter has: what becomes of a
// prompt that stays unconfirmed.
const PolicySetting = "unconfirmed"

// AllSettings returns the settings that a session of this kind may have: the
// kind's own, then the one that every kind has.
func (k Kind) AllSettings() []Setting {
	return append(slices.Clone(k.Settings), Setting{
		Name:      PolicySetting,
		Doc:       "what becomes of a prompt that may or may not have arrived; unset means what the adapter itself prefers",
		Allowed:   "hold (wait for confirm, revoke or drain --redeliver) or redeliver (hand it over again)",
		Canonical: OneOf(Hold.String(), Redeliver.String()),
	})
}

// A Registry is the list of the kinds of adapters that a program knows. Of two
// kinds with one name the first counts.
type Registry []Kind

// Kind returns the kind with that name. The error is [ErrUnknownAdapter] and
// lists the names that there are.
func (r Registry) Kind(name string) (Kind, error) {
	names := make([]string, 0, len(r))
	for _, k := range r {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return Kind{}, fmt.Errorf("%w: %q: have %s", ErrUnknownAdapter, name, strings.Join(names, ", "))
}

// Settle checks the settings of an adapter without opening it and returns them
// in canonical form, which is the form to store: a path that was relative to the
// working directory of the process that made the session is absolute in it. The
// errors are those of [Registry.Open].
func (r Registry) Settle(name string, settings map[string]string) (map[string]string, error) {
	k, err := r.Kind(name)
	if err != nil {
		return nil, Refuse(err)
	}
	settled, err := k.settle(settings)
	if err != nil {
		return nil, Refuse(err)
	}
	return settled, nil
}

// Open makes the adapter with that name for one session. A nil error promises
// that every setting was known and good; the harness itself was not contacted.
//
// The errors are [ErrUnknownAdapter], a [*SettingError], or what the kind's Open
// returned. Each is [ErrRefused] too: nothing reached a harness. Open may be
// called at the same time for one session and for many.
func (r Registry) Open(name string, s Session, settings map[string]string) (Opened, error) {
	k, err := r.Kind(name)
	if err != nil {
		return Opened{}, Refuse(err)
	}
	settled, err := k.settle(settings)
	if err != nil {
		return Opened{}, Refuse(err)
	}
	policy := settled[PolicySetting]
	delete(settled, PolicySetting)
	for _, d := range k.Settings {
		if _, set := settled[d.Name]; !set && d.Default != "" {
			settled[d.Name] = d.Default
		}
	}
	a, err := k.Open(s, settled)
	if err != nil {
		return Opened{}, Refuse(fmt.Errorf("adapter %s: %w", name, err))
	}
	o := Use(name, a)
	switch policy {
	case Hold.String():
		o.Policy = Hold
	case Redeliver.String():
		o.Policy = Redeliver
	}
	return o, nil
}

// settle checks the given settings against the kind's and returns those that are
// set, in canonical form. An empty value is as good as none.
func (k Kind) settle(given map[string]string) (map[string]string, error) {
	all := k.AllSettings()
	known := make(map[string]Setting, len(all))
	for _, d := range all {
		known[d.Name] = d
	}
	settled := make(map[string]string, len(given))
	for _, name := range slices.Sorted(maps.Keys(given)) {
		d, ok := known[name]
		if !ok {
			return nil, &SettingError{k.Name, name, "one of " + names(all), ErrUnknownSetting}
		}
		value := given[name]
		if value == "" {
			continue
		}
		if d.Canonical != nil {
			var err error
			if value, err = d.Canonical(value); err != nil {
				return nil, &SettingError{k.Name, name, d.Allowed, err}
			}
		}
		settled[name] = value
	}
	for _, d := range all {
		if _, ok := settled[d.Name]; !ok && d.Required {
			return nil, &SettingError{k.Name, d.Name, d.Allowed, ErrMissingSetting}
		}
	}
	return settled, nil
}

func names(settings []Setting) string {
	list := make([]string, len(settings))
	for i, d := range settings {
		list[i] = d.Name
	}
	return strings.Join(list, ", ")
}

// OneOf returns a [Setting.Canonical] that takes exactly these values.
func OneOf(values ...string) func(value string) (string, error) {
	return func(value string) (string, error) {
		if !slices.Contains(values, value) {
			return "", fmt.Errorf("bad value %q", value)
		}
		return value, nil
	}
}
