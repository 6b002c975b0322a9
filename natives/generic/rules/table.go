package rules

import (
	"encoding/json"
	"fmt"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

// A Table is rules by pattern. In the pattern of an entry, * stands for any key and any item.
type Table []Entry

// An Entry is a rule of a table.
type Entry struct {
	At   string
	Rule Rule
}

// At returns the rule of a pattern.
func (t Table) At(pattern string) Rule {
	parts := jsonpointer.Split(pattern)
	rule := t.exact(nil)
	for i := range parts {
		rule = t.exact(parts[:i+1]).inherit(rule)
	}
	return rule
}

// exact returns what the entries of a place say, without what it inherits.
func (t Table) exact(parts []string) Rule {
	var out Rule
	for _, e := range t {
		if covers(jsonpointer.Split(e.At), parts) {
			out = out.and(e.Rule)
		}
	}
	out.Depth = len(parts)
	return out
}

// covers reports whether a pattern is that of a place.
func covers(pattern, parts []string) bool {
	if len(pattern) != len(parts) {
		return false
	}
	for i, name := range pattern {
		if name != "*" && name != parts[i] {
			return false
		}
	}
	return true
}

// and returns a rule with what another one about the same place adds.
func (r Rule) and(other Rule) Rule {
	r.ReadOnly = r.ReadOnly || other.ReadOnly
	r.WriteOnly = r.WriteOnly || other.WriteOnly
	r.Secret = r.Secret || other.Secret
	r.Masked = r.Masked || other.Masked
	r.Volatile = r.Volatile || other.Volatile
	r.Ignore = r.Ignore || other.Ignore
	r.Changed = r.Changed || other.Changed
	r.Exclusive = r.Exclusive || other.Exclusive
	r.KeysInferred = r.KeysInferred || other.KeysInferred
	r.FreeToSet = r.FreeToSet || other.FreeToSet
	r.FreeToUnset = r.FreeToUnset || other.FreeToUnset
	r.Atomic = r.Atomic || other.Atomic
	for _, f := range []struct{ to, from *string }{
		{&r.CreateOnly, &other.CreateOnly}, {&r.FixedIf, &other.FixedIf}, {&r.Version, &other.Version},
		{&r.Discriminator, &other.Discriminator},
		{&r.Ground, &other.Ground}, {&r.Place, &other.Place}, {&r.Doubt, &other.Doubt},
		{(*string)(&r.List), (*string)(&other.List)}, {(*string)(&r.Format), (*string)(&other.Format)},
	} {
		if *f.from != "" {
			*f.to = *f.from
		}
	}
	if other.Keys != nil {
		r.Keys = other.Keys
	}
	if other.Default != nil {
		r.Default, r.Applies = other.Default, other.Applies
	}
	if other.Variants != nil {
		r.Variants = other.Variants
	}
	return r
}

// UnmarshalJSON reads an entry as the shared cases write it.
func (e *Entry) UnmarshalJSON(raw []byte) error {
	var in struct {
		At                                                             string
		ReadOnly, WriteOnly, Secret, Masked, Volatile, Ignore, Changed bool
		CreateOnly                                                     string
		Atomic, Exclusive, FreeToSet, FreeToUnset                      bool
		List                                                           classes.ListKind
		Keys                                                           []string
		Format                                                         body.Format
		Default, Discriminator                                         json.RawMessage
		Variants                                                       map[string][]string
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return err
	}
	e.At = in.At
	e.Rule = Rule{
		ReadOnly: in.ReadOnly, CreateOnly: in.CreateOnly, WriteOnly: in.WriteOnly, Secret: in.Secret, Masked: in.Masked,
		Volatile: in.Volatile, Ignore: in.Ignore, Changed: in.Changed, List: in.List, Keys: in.Keys,
		Exclusive: in.Exclusive, Atomic: in.Atomic, Format: in.Format, Variants: in.Variants,
		FreeToSet: in.FreeToSet, FreeToUnset: in.FreeToUnset,
	}
	if in.Default != nil {
		v, err := body.Parse(in.Default)
		if err != nil {
			return fmt.Errorf("the default of %q: %w", in.At, err)
		}
		e.Rule.Default, e.Rule.Applies = v, true
	}
	if in.Discriminator == nil {
		return nil
	}
	if err := json.Unmarshal(in.Discriminator, &e.Rule.Discriminator); err == nil {
		return nil
	}
	var d struct {
		Field, PropertyName string
		Values, Variants    map[string][]string
	}
	if err := json.Unmarshal(in.Discriminator, &d); err != nil {
		return fmt.Errorf("the discriminator of %q: %w", in.At, err)
	}
	e.Rule.Discriminator, e.Rule.Variants = d.Field+d.PropertyName, d.Values
	if d.Values == nil {
		e.Rule.Variants = d.Variants
	}
	return nil
}
