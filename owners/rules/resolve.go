package rules

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/owners/difference"
	"github.com/app-sre/prcheck/qontract/jsonpath"
)

// A fileChange is a file on both sides, with the datafiles that refer to it.
type fileChange struct {
	ref       content.Ref
	old, new  any
	referring []content.Ref
}

// A resolved context is a file whose owners may approve, by the type that is bound to it.
type resolved struct {
	owned, file content.Ref
	origin      *Type
}

// A step is a type that looked at a file; a trail of them ends circles.
type step struct {
	name string
	ref  content.Ref
}

// A finder looks for contexts.
type finder struct {
	rules *Rules
	world content.World
	steps int // types that may still look at files
	looks int // files that may still be asked whether they refer to the changed one
}

// resolve returns the contexts of a file by a type: the file itself, the files that it names, and over other types the
// files whose owners also own those.
func (f *finder) resolve(t *Type, c fileChange, trail map[step]bool) ([]resolved, error) {
	at := step{t.Name, c.ref}
	if trail[at] {
		return nil, nil
	}
	if f.steps--; f.steps < 0 {
		return nil, errors.New("its contexts lead over too many files")
	}
	trail = maps.Clone(trail)
	trail[at] = true
	var out []resolved
	if t.ContextSchema == "" || t.ContextSchema == c.ref.Schema {
		out = append(out, resolved{c.ref, c.ref, t})
		more, err := f.expand(t, c, c.ref, trail)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	for _, d := range t.detectors {
		if d.context == nil || d.schema != c.ref.Schema {
			continue
		}
		refs, err := f.contextFiles(*d.context, c, t.ContextSchema)
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			out = append(out, resolved{ref, ref, t})
			more, err := f.expand(t, f.look(ref), ref, trail)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
	}
	return unique(out), nil
}

func unique(all []resolved) []resolved {
	known := make(map[resolved]bool, len(all))
	return slices.DeleteFunc(all, func(r resolved) bool {
		isKnown := known[r]
		known[r] = true
		return isKnown
	})
}

// expand returns the contexts that own what a type allows in a file, by types over it.
func (f *finder) expand(t *Type, c fileChange, file content.Ref, trail map[step]bool) ([]resolved, error) {
	var out []resolved
	for _, e := range t.expansions {
		refs, err := f.contextFiles(e.context, c, e.to.ContextSchema)
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			found, err := f.resolve(e.to, f.look(ref), trail)
			if err != nil {
				return nil, err
			}
			for _, r := range found {
				out = append(out, resolved{r.owned, file, r.origin})
			}
		}
	}
	return out, nil
}

// look returns a file with its content on both sides.
func (f *finder) look(ref content.Ref) fileChange {
	old, new := f.world.Sides(ref)
	return fileChange{ref: ref, old: old, new: new}
}

// contextFiles returns the files to which a changed file leads.
func (f *finder) contextFiles(c compiledContext, of fileChange, schema string) ([]content.Ref, error) {
	var before, after map[string]content.Ref
	var err error
	if c.backrefs {
		before, after, err = f.referring(c, of)
	} else {
		if before, err = c.named(of.old, schema); err == nil {
			after, err = c.named(of.new, schema)
		}
	}
	if err != nil {
		return nil, err
	}
	chosen := map[string]content.Ref{}
	switch {
	case c.when == "added":
		chosen = without(after, before)
	case c.when == "removed":
		chosen = without(before, after)
	case maps.Equal(before, after):
		chosen = before
	}
	var out []content.Ref
	for _, key := range slices.Sorted(maps.Keys(chosen)) {
		if chosen[key].Path != "" {
			out = append(out, chosen[key])
		}
	}
	return out, nil
}

func without(all, other map[string]content.Ref) map[string]content.Ref {
	out := maps.Clone(all)
	maps.DeleteFunc(out, func(key string, _ content.Ref) bool { _, isThere := other[key]; return isThere })
	return out
}

// named returns the files that a content names at a selector. What is no text is no file, and yet it is another value.
func (c compiledContext) named(of any, schema string) (map[string]content.Ref, error) {
	matches, err := c.selector.values(of)
	if err != nil {
		return nil, err
	}
	out := map[string]content.Ref{}
	for _, v := range matches {
		if path, isText := v.(string); isText {
			out["file "+path] = content.Ref{Kind: content.Datafile, Path: path, Schema: schema}
		} else {
			out["value "+difference.Canonical(v)] = content.Ref{}
		}
	}
	return out, nil
}

// referring returns the datafiles that mention a changed file at a selector, in base and in head.
func (f *finder) referring(c compiledContext, of fileChange) (before, after map[string]content.Ref, err error) {
	before, after = map[string]content.Ref{}, map[string]content.Ref{}
	for _, ref := range of.referring {
		if f.looks--; f.looks < 0 {
			return nil, nil, errors.New("its contexts lead over too many files")
		}
		old, new := f.world.Sides(ref)
		for _, side := range []struct {
			of   any
			into map[string]content.Ref
		}{{old, before}, {new, after}} {
			paths, err := c.selector.texts(side.of)
			if err != nil {
				return nil, nil, err
			}
			if slices.Contains(paths, of.ref.Path) {
				side.into[ref.Path] = ref
			}
		}
	}
	return before, after, nil
}

// values returns what a selector chooses in a content; nothing in one that is not there.
func (s selector) values(of any) ([]any, error) {
	if of == nil {
		return nil, nil
	}
	matches, err := s.path.Places(of)
	if err != nil {
		return nil, s.failed(err)
	}
	out := make([]any, len(matches))
	for i, m := range matches {
		out[i] = m.Value
	}
	return out, nil
}

// texts returns the texts that a selector chooses, once each.
func (s selector) texts(of any) ([]string, error) {
	values, err := s.values(of)
	var out []string
	for _, v := range values {
		if text, isText := v.(string); isText && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out, err
}

// An Allowed place is one that a selector of a context yields.
type Allowed struct {
	Place    jsonpath.Location
	Selector string
}

// maxAllowed bounds the places that one context allows in one file.
const maxAllowed = 100_000

// Allows returns the places that a context allows in the content of one side of a changed file.
func (c *Context) Allows(ref content.Ref, of any) ([]Allowed, error) {
	if of == nil {
		return nil, nil
	}
	schemas := []string{ref.Schema, ""}
	if ref.Schema == "" {
		schemas = schemas[:1]
	}
	var out []Allowed
	for _, schema := range schemas {
		for _, s := range c.Type.selectors[target{ref.Kind, schema}] {
			path, err := s.of(c.File.Path)
			if err != nil {
				return nil, err
			}
			matches, err := path.Places(of)
			if err != nil {
				return nil, s.failed(err)
			}
			for _, m := range matches {
				if m.Sign == "" {
					out = append(out, Allowed{m.Place, s.text})
				}
			}
			if len(out) > maxAllowed {
				return nil, fmt.Errorf("the selectors of %q allow more than %d places of one file", c.Type.Name, maxAllowed)
			}
		}
	}
	return out, nil
}
