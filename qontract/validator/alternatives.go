package validator

import (
	"fmt"
	"slices"
	"strings"
)

// checkCombinations checks allOf, anyOf, oneOf and not.
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
			e.addFlawf("the schema excludes this value (keyword \"not\")")
		}
	}
}

// ordinals writes the numbers of alternatives, counted from 1.
func ordinals(places []int) string {
	words := make([]string, len(places))
	for i, p := range places {
		words[i] = fmt.Sprint(p + 1)
	}
	return strings.Join(words, ", ")
}

// checkAlternatives returns the indexes of the schemas that fit. If none fits, it keeps the
// flaws of the nearest one.
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

// A failedAlternative is an alternative that does not fit, with the flaws that were found.
type failedAlternative struct {
	flaws       []flaw
	annotations []annotation
}

// severity returns three counts to compare alternatives by, the most important first:
// places with a flaw that identifies another alternative, places with a value that is not
// allowed, and all places with flaws. here is the pointer to the value that the
// alternatives are about: a wrong type of this value identifies another alternative.
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

// nearestAlternative returns the alternative with the least severe flaws. If every
// alternative wants another value at the same place, the result has a single flaw instead,
// with all values that are allowed there.
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

// sharedFlaw joins the flaws about a value that is not allowed, if all alternatives have
// such a flaw at the same place.
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
