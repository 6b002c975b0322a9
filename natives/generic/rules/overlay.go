package rules

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// An Overlay is what a resource says about its own body. Its places are paths or patterns;
// each counts for everything inside, too.
type Overlay struct {
	Ignore    []string // not compared, and sent as they are live
	Exclusive []string // lists in which items of others are removed
	Secrets   []SecretPlace
	// Unread are places whose values the service does not answer, although the specification
	// does not say so.
	Unread []string
}

// A SecretPlace is a place whose value comes from a store of secrets.
type SecretPlace struct {
	At      string // path or pattern
	Version string // of the value; another one than the last applied sends it again
}

// With returns rules with an overlay.
func With(r Rules, o Overlay) Rules {
	if len(o.Ignore)+len(o.Exclusive)+len(o.Secrets)+len(o.Unread) == 0 {
		return r
	}
	return overlaid{r, o}
}

type overlaid struct {
	Rules
	overlay Overlay
}

func (o overlaid) At(pattern string) Rule { return o.find(pattern, pattern) }

func (o overlaid) find(pattern, path string) Rule {
	r := Find(o.Rules, pattern, path)
	if Covers(o.overlay.Ignore, pattern, path) {
		r.Ignore = true
		r.Ground, r.Place = "the resource's data: ignore", ""
	}
	for _, e := range o.overlay.Exclusive {
		if e == pattern || e == path {
			r.Exclusive = true
		}
	}
	for _, s := range o.overlay.Secrets {
		if Covers([]string{s.At}, pattern, path) {
			r.Secret, r.Version = true, s.Version
			r.WriteOnly = r.WriteOnly || s.Version != ""
		}
	}
	r.WriteOnly = r.WriteOnly || Covers(o.overlay.Unread, pattern, path)
	return r
}

// Covers reports whether one of the places is a place of which the pattern and the path are
// known, or is around it.
func Covers(places []string, pattern, path string) bool {
	for _, p := range places {
		if isAround(p, pattern) || isAround(p, path) || isMixed(p, pattern, path) {
			return true
		}
	}
	return false
}

func isAround(outer, inner string) bool {
	rest, ok := strings.CutPrefix(inner, outer)
	return ok && (rest == "" || rest[0] == '/')
}

// isMixed reports whether a place that names some items, and has * for others, is around
// another one.
func isMixed(place, pattern, path string) bool {
	if !strings.Contains(place, "*") || pattern == path {
		return false
	}
	parts, byPattern, byPath := jsonpointer.Split(place), jsonpointer.Split(pattern), jsonpointer.Split(path)
	if len(parts) > len(byPattern) || len(byPattern) != len(byPath) {
		return false
	}
	for i, p := range parts {
		if p != byPattern[i] && p != byPath[i] {
			return false
		}
	}
	return true
}

// CheckPlace returns an error if a text is no JSON pointer to a part of a body.
func CheckPlace(place string) error {
	switch {
	case !strings.HasPrefix(place, "/"):
		return fmt.Errorf("%.100q is no place in the body; write a JSON pointer, such as /properties/sku", place)
	case strings.HasSuffix(place, "/"):
		return fmt.Errorf("%.100q ends with a slash; a place is named without it", place)
	}
	for i := strings.IndexByte(place, '~'); i >= 0; {
		if i+1 == len(place) || place[i+1] != '0' && place[i+1] != '1' {
			return fmt.Errorf("%.100q has a ~ that is neither ~0 (for ~) nor ~1 (for /)", place)
		}
		next := strings.IndexByte(place[i+1:], '~')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return nil
}
