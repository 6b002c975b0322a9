package classes

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// An Entry corrects what a specification says about one property. What is not set stays as
// the specification has it.
type Entry struct {
	Type    string          `json:"type"`             // with a version, or without one for all versions
	Family  string          `json:"family,omitempty"` // arm, kubernetes or plain; "" is any
	Path    string          `json:"path"`             // dotted, or a JSON pointer
	Class   string          `json:"class,omitempty"`
	Keys    []string        `json:"keys,omitempty"`
	List    ListKind        `json:"list,omitempty"`
	Format  string          `json:"format,omitempty"`
	Default json.RawMessage `json:"default,omitempty"` // the service sets it
	Patch   string          `json:"patch,omitempty"`   // of the path "": merge
	Habit                   // of a plain type
	Reason  string          `json:"reason"`

	file    string
	number  int
	isUsed  bool
	isKnown bool // the type is there
	value   *openapi.Value
}

// place returns where an entry stands, for messages.
func (e *Entry) place() string { return fmt.Sprintf("%s#/overrides/%d", e.file, e.number) }

// Overrides are the entries of a file.
type Overrides struct {
	Name    string
	Entries []*Entry

	isShipped bool // it says what is known of services, of which the specifications at hand may be others
}

var (
	familyNames = []string{"arm", "kubernetes", "plain"}
	classNames  = []string{"readOnly", "createOnly", "mutable", "writeOnly", "secret", "volatile"}
	formatNames = []string{"arm-id", "location", "enum-fold", "duration", "date-time", "quantity", "int-or-string"}
	listKinds   = []ListKind{Atomic, Set, Map}
)

// maxEntries is how many entries a file may have.
const maxEntries = 100_000

// ReadOverrides reads an override file: a JSON object with a list "overrides" of entries. The
// name is for messages.
func ReadOverrides(name string, raw []byte) (*Overrides, error) {
	var file struct {
		Overrides []*Entry `json:"overrides"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, fmt.Errorf("overrides %q: %w", name, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("overrides %q: there is text after the end", name)
	}
	if len(file.Overrides) > maxEntries {
		return nil, fmt.Errorf("overrides %q: more than %d entries", name, maxEntries)
	}
	for i, e := range file.Overrides {
		if e == nil {
			return nil, fmt.Errorf("overrides %q: entry %d is null", name, i)
		}
		e.file, e.number = name, i
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", e.place(), err)
		}
	}
	return &Overrides{Name: name, Entries: file.Overrides}, nil
}

// check finds the mistakes of an entry that can be seen without a specification.
func (e *Entry) check() error {
	switch {
	case strings.TrimSpace(e.Reason) == "":
		return errors.New("an override needs a reason")
	case e.Family != "" && !slices.Contains(familyNames, e.Family):
		return fmt.Errorf("there is no family %q; there are %s", e.Family, strings.Join(familyNames, ", "))
	case e.Type == "":
		return errors.New("an override needs a type")
	case e.Path == "" && e.Patch == "" && !e.Describes():
		return errors.New("an override needs a path")
	case e.Class != "" && !slices.Contains(classNames, e.Class):
		return fmt.Errorf("there is no class %q; there are %s", e.Class, strings.Join(classNames, ", "))
	case e.Format != "" && !slices.Contains(formatNames, e.Format):
		return fmt.Errorf("there is no format %q; there are %s", e.Format, strings.Join(formatNames, ", "))
	case e.List != "" && !slices.Contains(listKinds, e.List):
		return fmt.Errorf("there is no kind of list %q; there are atomic, set, map", e.List)
	case e.List == Map && len(e.Keys) == 0:
		return errors.New("a list of the kind map needs keys")
	case e.List != Map && e.List != "" && len(e.Keys) > 0:
		return errors.New("only a list of the kind map has keys")
	case e.Patch != "" && e.Patch != "merge":
		return fmt.Errorf("there is no way to patch %q; there is merge", e.Patch)
	case e.Patch != "" && e.Path != "":
		return errors.New("patch is about the whole resource: its path is empty")
	case e.Class == "" && e.Keys == nil && e.List == "" && e.Format == "" && e.Default == nil && e.Patch == "" &&
		!e.isAboutType() && e.Action == "":
		return errors.New("an override says nothing: it needs class, keys, list, format, default or patch")
	}
	if err := e.Habit.check(e.Path); err != nil || e.Default == nil {
		return err
	}
	var err error
	e.value, err = openapi.ParseValue(e.Default)
	return err
}

// IsAbout reports whether an entry is about a type.
func (e *Entry) IsAbout(t *resources.Type) bool {
	return (e.Family == "" || e.Family == t.Family.Name) &&
		(strings.EqualFold(e.Type, t.ID()) || strings.EqualFold(e.Type, t.Name))
}

// addOverrides takes the entries about a type. An entry for all versions may name a property
// that this version does not have.
func (c *Classifier) addOverrides(t *resources.Type, files []*Overrides) error {
	c.overrides = map[string][]*Entry{}
	plain := &Classifier{family: c.family, sides: c.sides, patchKind: c.patchKind}
	for _, f := range files {
		for _, e := range f.Entries {
			if !e.IsAbout(t) {
				continue
			}
			e.isKnown = true
			n, err := plain.find(e.Path)
			var missing *PathError
			switch {
			case errors.As(err, &missing) && (f.isShipped || !strings.EqualFold(e.Type, t.ID())):
				continue
			case errors.As(err, &missing):
				e.isUsed = true // it is told here
				return fmt.Errorf("%s: %s: %w", e.place(), t.ID(), err)
			case err != nil:
				return err
			case e.Path != n.path && e.Path != n.pointer && f.isShipped:
				continue
			case e.Path != n.path && e.Path != n.pointer:
				return fmt.Errorf("%s: the override would be about all of %q; write it so", e.place(), n.path)
			}
			e.isUsed = true
			c.overrides[n.path] = append(c.overrides[n.path], e)
			if err := contradiction(c.overrides[n.path]); err != nil {
				return err
			}
		}
	}
	return nil
}

// contradiction reports two entries of one file that say different things of a property. An
// entry of a later file replaces what an earlier file says.
func contradiction(entries []*Entry) error {
	last := entries[len(entries)-1]
	for _, e := range entries[:len(entries)-1] {
		if e.file != last.file {
			continue
		}
		isAccess := func(class string) bool { return class == "readOnly" || class == "createOnly" || class == "mutable" }
		switch {
		case isAccess(e.Class) && isAccess(last.Class) && e.Class != last.Class,
			e.Format != "" && last.Format != "" && e.Format != last.Format,
			(e.List != "" || e.Keys != nil) && (last.List != "" || last.Keys != nil):
			return fmt.Errorf("%s: it contradicts %s", last.place(), e.place())
		}
	}
	return nil
}

// Unused returns the entries that correct nothing, each with what is wrong. Call it after
// all types were classified that are to be. If not all types of the entries must be there,
// as with those that are shipped, an entry about an unknown type is no mistake.
func (o *Overrides) Unused(areTypesComplete bool) []error {
	var out []error
	for _, e := range o.Entries {
		switch {
		case e.isUsed:
		case e.isKnown:
			out = append(out, fmt.Errorf("%s: no version of %s has the property %q", e.place(), e.Type, e.Path))
		case areTypesComplete:
			out = append(out, fmt.Errorf("%s: no specification has the type %q", e.place(), e.Type))
		}
	}
	return out
}

// override lays the entries about a property over what the specification says.
func (c *Classifier) override(n *node, p *Property, in *inherited) {
	for _, e := range c.overrides[n.path] {
		g := &Ground{Source: Override, Place: e.place(), Text: e.Reason}
		if e.Action != "" { // what an action changes can change
			in.createOnly, in.readOnly, in.mutable = nil, nil, g
		}
		switch e.Class {
		case "readOnly":
			in.readOnly, in.createOnly, in.mutable = g, nil, nil
		case "createOnly":
			in.createOnly, in.readOnly, in.mutable = g, nil, nil
		case "mutable":
			in.createOnly, in.readOnly, in.mutable, in.mutability = nil, nil, g, openapi.Place{}
		case "writeOnly":
			in.writeOnly = g
		case "secret":
			in.secret = g
		case "volatile":
			in.volatile = g
		}
		if e.List != "" || e.Keys != nil {
			p.List = &List{Kind: e.List, Keys: e.Keys, Ground: *g}
			if e.List == "" {
				p.List.Kind = Map
			}
		}
		if e.Format != "" {
			p.Format = &Format{e.Format, *g}
		}
		if e.value != nil {
			p.Default = &Default{Value: e.value, Applies: true, Ground: *g}
		}
	}
}

// Patch returns the entry that says how PATCH may be used, nil if none does.
func (c *Classifier) Patch() *PatchRule {
	for _, e := range c.overrides[""] {
		if e.Patch != "" {
			return &PatchRule{e.Patch, Ground{Source: Override, Place: e.place(), Text: e.Reason}}
		}
	}
	return nil
}

//go:embed overrides.json
var shipped []byte

// ShippedName is the name of the shipped overrides in messages.
const ShippedName = "shipped overrides"

// Shipped returns the overrides that are a part of the program: what is known of services and
// stands in no specification. An entry is about a type that need not be there.
func Shipped() (*Overrides, error) {
	o, err := ReadOverrides(ShippedName, shipped)
	if err != nil {
		return nil, err
	}
	o.isShipped = true
	return o, nil
}
