package coverage

import (
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
	Roots    []*Place
	Err      error // why it is unknown who covers the file
	parts    int
}

// Places returns the places of a file about which somebody must decide.
func (f *File) Places() []*Place {
	var out []*Place
	for _, p := range f.Roots {
		out = append(out, p.Decided()...)
	}
	return out
}

// IsCovered reports whether all differences of a file are covered. A file of which this is unknown is not.
func (f *File) IsCovered() bool {
	return f.Err == nil && !slices.ContainsFunc(f.Places(), func(p *Place) bool { return !p.IsCovered() })
}

// Of covers the differences of a changed file.
func Of(r *rules.Rules, c *content.Change, w content.World, isInHead func(path string) bool) *File {
	f := &File{Change: c}
	for _, d := range c.Differences {
		f.Roots = append(f.Roots, &Place{Difference: d})
	}
	f.Contexts, f.Err = r.Contexts(c, w, isInHead)
	for _, context := range f.Contexts {
		if err := f.cover(context); err != nil && f.Err == nil {
			f.Err = err
		}
	}
	return f
}

// cover lets a context cover what it allows.
func (f *File) cover(c *rules.Context) error {
	base, err := c.Allows(f.Ref, f.Old)
	if err != nil {
		return err
	}
	head, err := c.Allows(f.Ref, f.New)
	if err != nil {
		return err
	}
	inBase, inHead := index(base), index(head)
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
	if err := f.split(difference.Added, head, func(selector string) Cover { return Cover{Context: c, Head: selector} }); err != nil {
		return err
	}
	return f.split(difference.Removed, base, func(selector string) Cover { return Cover{Context: c, Base: selector} })
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
func (a allowedPlaces) allows(at jsonpath.Place) (string, bool) {
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
	roots := map[string]*Place{}
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
func (f *File) IsAllowedBy(c *rules.Context, p *Place) bool {
	one := &File{Change: f.Change, Roots: []*Place{{Difference: p.Difference}}}
	return one.cover(c) == nil && len(one.Roots[0].Covers) > 0
}
