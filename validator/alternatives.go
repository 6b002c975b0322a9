package validator

import (
	"fmt"
	"slices"
	"strings"
)

// combined checks what applies other schemas to the same value.
func (e *evaluation) checkCombinations(n *schemaNode, v any) {
	for _, sub := range n.allOf {
		e.check(sub, v)
	}
	if len(n.anyOf) > 0 {
		e.checkAlternatives(n.anyOf, v)
	}
	if len(n.oneOf) > 0 {
		if fit := e.checkAlternatives(n.oneOf, v); len(fit) > 1 {
			e.addFlawf("fits %d alternatives (%s), must fit exactly one", len(fit), ordinals(fit))
		}
	}
	if n.not != nil {
		flaws, annotations := len(e.flaws), len(e.annotations)
		fits := e.check(n.not, v)
		e.flaws, e.annotations = e.flaws[:flaws], e.annotations[:annotations]
		if fits {
			e.addFlawf("is what the schema excludes")
		}
	}
}

// ordinals writes the places of alternatives, counted from 1.
func ordinals(places []int) string {
	words := make([]string, len(places))
	for i, p := range places {
		words[i] = fmt.Sprint(p + 1)
	}
	return strings.Join(words, ", ")
}

// alternatives returns the places of the schemas that fit. When none does, the
// flaws of the nearest one stay.
func (e *evaluation) checkAlternatives(schemas []*schemaNode, v any) []int {
	flaws, annotations := len(e.flaws), len(e.annotations)
	var fit []int
	failed := make([]failedAlternative, 0, len(schemas))
	for i, n := range schemas {
		before := len(e.annotations)
		if e.check(n, v) {
			fit = append(fit, i)
			continue
		}
		failed = append(failed, failedAlternative{slices.Clone(e.flaws[flaws:]), slices.Clone(e.annotations[before:])})
		e.flaws, e.annotations = e.flaws[:flaws], e.annotations[:before]
	}
	if len(fit) == 0 {
		best := nearestAlternative(failed, pointer(e.path))
		e.flaws, e.annotations = append(e.flaws, best.flaws...), append(e.annotations[:annotations], best.annotations...)
	}
	return fit
}

// A try is an alternative that does not fit.
type failedAlternative struct {
	flaws       []flaw
	annotations []annotation
}

// against counts the places at which something speaks against an alternative
// for the value at here: what tells alternatives apart, values that are not
// listed, and all.
func (t failedAlternative) severity(here string) [3]int {
	worst := map[string]weight{}
	for _, f := range t.flaws {
		w := f.weight
		if w == weightType {
			w = weightPlain
			if f.at == here {
				w = weightTag
			}
		}
		worst[f.at] = max(worst[f.at], w)
	}
	var out [3]int
	for _, w := range worst {
		switch w {
		case weightTag:
			out[0]++
		case weightChoice:
			out[1]++
		}
	}
	out[2] = len(worst)
	return out
}

// nearest picks the alternative with the least against it. When each of them
// wants another value at the same place, that is the one mistake, with all the
// values that are allowed.
func nearestAlternative(failed []failedAlternative, here string) failedAlternative {
	if one, ok := sharedFlaw(failed); ok {
		return failedAlternative{flaws: []flaw{one}}
	}
	best, least := 0, failed[0].severity(here)
	for i := 1; i < len(failed); i++ {
		if a := failed[i].severity(here); slices.Compare(a[:], least[:]) < 0 {
			best, least = i, a
		}
	}
	return failed[best]
}

// sharedFlaw joins the flaws about an unknown value that all tries have at one
// place.
func sharedFlaw(failed []failedAlternative) (flaw, bool) {
	if len(failed) < 2 {
		return flaw{}, false
	}
	for _, f := range failed[0].flaws {
		joined, everywhere := flaw{at: f.at, weight: weightTag, got: f.got}, f.want != nil
		for _, t := range failed {
			i := slices.IndexFunc(t.flaws, func(g flaw) bool { return g.at == f.at && g.want != nil })
			if everywhere = everywhere && i >= 0; !everywhere {
				break
			}
			joined.want = append(joined.want, t.flaws[i].want...)
		}
		if everywhere {
			return joined, true
		}
	}
	return flaw{}, false
}
