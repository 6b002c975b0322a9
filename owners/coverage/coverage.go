package coverage

import (
	"errors"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/owners/difference"
	"github.com/app-sre/prcheck/owners/rules"
	"github.com/app-sre/prcheck/qontract/jsonpath"
)

// A File is a changed file with its differences, and who covers them.
type File struct {
	*content.Change
	Contexts []*rules.Context
	Roots    []*CoveredPlace
	Err      error // why it is unknown who covers the file
	parts    int
	asked    map[question]*allowance
}

// Places returns the places of a file about which somebody must decide.
func (f *File) Places() []*CoveredPlace {
	var out []*CoveredPlace
	for _, p := range f.Roots {
		out = append(out, p.Decided()...)
	}
	return out
}

// IsCovered reports whether all differences of a file are covered. A file of which this is unknown is not.
func (f *File) IsCovered() bool {
	return f.Err == nil && !slices.ContainsFunc(f.Places(), func(p *CoveredPlace) bool { return !p.IsCovered() })
}

// Of covers the differences of a changed file.
func Of(r *rules.Rules, c *content.Change, w content.World, isInHead func(path string) bool) *File {
	contexts, err := r.Contexts(c, w, isInHead)
	f := By(c, contexts)
	if err != nil {
		f.Err = err
	}
	return f
}

// By covers the differences of a changed file by contexts.
func By(c *content.Change, contexts []*rules.Context) *File {
	f := &File{Change: c, Contexts: contexts, asked: map[question]*allowance{}}
	for _, d := range c.Differences {
		f.Roots = append(f.Roots, &CoveredPlace{Difference: d})
	}
	for _, context := range contexts {
		if err := f.cover(context); err != nil && f.Err == nil {
			f.Err = err
		}
	}
	return f
}

// A question is what the places that a context allows depend on.
type question struct {
	of   *rules.Type
	file string // the context file
}

// An allowance is the places that contexts allow on both sides.
type allowance struct {
	base, head     []rules.Allowed
	inBase, inHead allowedPlaces
	err            error
}

// allows returns what a context allows. Contexts of one type and context file differ in their people alone.
func (f *File) allows(c *rules.Context) *allowance {
	q := question{c.Type, c.File.Path}
	if a := f.asked[q]; a != nil {
		return a
	}
	a := &allowance{}
	var errs [2]error
	a.base, errs[0] = c.Allows(f.Ref, f.Old)
	a.head, errs[1] = c.Allows(f.Ref, f.New)
	a.inBase, a.inHead, a.err = index(a.base), index(a.head), errors.Join(errs[:]...)
	if f.asked == nil {
		f.asked = map[question]*allowance{}
	}
	f.asked[q] = a
	return a
}

// cover lets a context cover what it allows.
func (f *File) cover(c *rules.Context) error {
	a := f.allows(c)
	if a.err != nil {
		return a.err
	}
	inBase, inHead := a.inBase, a.inHead
	for _, p := range f.Roots {
		switch p.Kind {
		case difference.Text:
			p.cover(Cover{Context: c})
		case difference.Added:
			if selector, is := inHead.allows(p.Head); is {
				p.cover(Cover{Context: c, Head: selector})
			}
		case difference.Removed:
			if selector, is := inBase.allows(p.Base); is {
				p.cover(Cover{Context: c, Base: selector})
			}
		default:
			b, isInBase := inBase.allows(p.Base)
			h, isInHead := inHead.allows(p.Head)
			if isInBase && isInHead {
				p.cover(Cover{c, b, h})
			}
		}
	}
	if err := f.split(difference.Added, a.head, func(selector string) Cover {
		return Cover{Context: c, Head: selector}
	}); err != nil {
		return err
	}
	return f.split(difference.Removed, a.base, func(selector string) Cover { return Cover{Context: c, Base: selector} })
}

// An allowedPlaces index has the selector of each allowed place.
type allowedPlaces map[string]string

func index(all []rules.Allowed) allowedPlaces {
	out := make(allowedPlaces, len(all))
	for _, a := range all {
		if at := a.Place.String(); out[at] == "" {
			out[at] = a.Selector
		}
	}
	return out
}

// allows returns the selector that allows a place: the place itself, or one above it.
func (a allowedPlaces) allows(at jsonpath.Location) (string, bool) {
	if len(a) == 0 {
		return "", false
	}
	for n := range len(at) + 1 {
		if selector, is := a[at[:n].String()]; is {
			return selector, true
		}
	}
	return "", false
}

// maxParts bounds the parts of one file.
const maxParts = 10_000

// split covers parts of what is added or removed, where allowed places lie below it.
func (f *File) split(kind difference.Kind, all []rules.Allowed, by func(selector string) Cover) error {
	roots := map[string]*CoveredPlace{}
	for _, p := range f.Roots {
		if p.Kind == kind {
			roots[p.Place().String()] = p
		}
	}
	if len(roots) == 0 {
		return nil
	}
	for _, a := range all {
		if slices.Contains(a.Place, jsonpath.Member("__identifier")) {
			continue // it is no content
		}
		for n := range a.Place {
			p := roots[a.Place[:n].String()]
			if p == nil || !p.split(a.Place, by(a.Selector)) {
				continue
			}
			if f.parts++; f.parts > maxParts {
				return fmt.Errorf("%s: selectors allow more than %d parts of what differs", f.Path, maxParts)
			}
		}
	}
	return nil
}

// IsAllowedBy reports whether a context would cover a place as a whole.
func (f *File) IsAllowedBy(c *rules.Context, p *CoveredPlace) bool {
	one := &File{Change: f.Change, Roots: []*CoveredPlace{{Difference: p.Difference}}, asked: f.asked}
	return one.cover(c) == nil && len(one.Roots[0].Covers) > 0
}
