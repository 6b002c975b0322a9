package validator

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/internal/suggest"
)

// A weight tells how much a flaw speaks against the alternative it is in.
type weight int

const (
	plain  weight = iota
	choice        // not one of several values
	kind          // another type
	tag           // not the one value that tells the alternatives apart
)

// A flaw is one way in which a value does not fit its schema.
type flaw struct {
	at     string
	weight weight
	say    func() string // nil when it is told by got and want
	got    any
	want   []any // the values that are allowed
}

// message says what was found.
func (f flaw) message() string {
	if f.say != nil {
		return f.say()
	}
	words := make([]string, 0, len(f.want))
	for _, w := range f.want {
		if text := show(w); !slices.Contains(words, text) {
			words = append(words, text)
		}
	}
	if len(words) == 1 {
		return fmt.Sprintf("%s is not %s", show(f.got), words[0])
	}
	const most = 12
	if len(words) > most {
		words = append(words[:most], fmt.Sprintf("%d more", len(words)-most))
	}
	text := fmt.Sprintf("%s is not one of %s", show(f.got), strings.Join(words, ", "))
	if got, ok := f.got.(string); ok {
		text += meant(got, onlyStrings(f.want))
	}
	return text
}

func onlyStrings(values []any) []string {
	var out []string
	for _, v := range values {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// combined checks what applies other schemas to the same value.
func (e *evaluation) combined(n *node, v any) {
	for _, sub := range n.allOf {
		e.check(sub, v)
	}
	if len(n.anyOf) > 0 {
		e.alternatives(n.anyOf, v)
	}
	if len(n.oneOf) > 0 {
		if fit := e.alternatives(n.oneOf, v); len(fit) > 1 {
			e.flawf("fits %d alternatives (%s), must fit exactly one", len(fit), ordinals(fit))
		}
	}
	if n.not != nil {
		flaws, notes := len(e.flaws), len(e.notes)
		fits := e.check(n.not, v)
		e.flaws, e.notes = e.flaws[:flaws], e.notes[:notes]
		if fits {
			e.flawf("is what the schema excludes")
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
func (e *evaluation) alternatives(schemas []*node, v any) []int {
	flaws, notes := len(e.flaws), len(e.notes)
	var fit []int
	tries := make([]try, 0, len(schemas))
	for i, n := range schemas {
		before := len(e.notes)
		if e.check(n, v) {
			fit = append(fit, i)
			continue
		}
		tries = append(tries, try{slices.Clone(e.flaws[flaws:]), slices.Clone(e.notes[before:])})
		e.flaws, e.notes = e.flaws[:flaws], e.notes[:before]
	}
	if len(fit) == 0 {
		best := nearest(tries, pointer(e.at))
		e.flaws, e.notes = append(e.flaws, best.flaws...), append(e.notes[:notes], best.notes...)
	}
	return fit
}

// A try is an alternative that does not fit.
type try struct {
	flaws []flaw
	notes []note
}

// against counts the places at which something speaks against an alternative
// for the value at here: what tells alternatives apart, values that are not
// listed, and all.
func (t try) against(here string) [3]int {
	worst := map[string]weight{}
	for _, f := range t.flaws {
		w := f.weight
		if w == kind {
			w = plain
			if f.at == here {
				w = tag
			}
		}
		worst[f.at] = max(worst[f.at], w)
	}
	var out [3]int
	for _, w := range worst {
		switch w {
		case tag:
			out[0]++
		case choice:
			out[1]++
		}
	}
	out[2] = len(worst)
	return out
}

// nearest picks the alternative with the least against it. When each of them
// wants another value at the same place, that is the one mistake, with all the
// values that are allowed.
func nearest(tries []try, here string) try {
	if one, ok := sharedFlaw(tries); ok {
		return try{flaws: []flaw{one}}
	}
	best, least := 0, tries[0].against(here)
	for i := 1; i < len(tries); i++ {
		if a := tries[i].against(here); slices.Compare(a[:], least[:]) < 0 {
			best, least = i, a
		}
	}
	return tries[best]
}

// sharedFlaw joins the flaws about an unknown value that all tries have at one
// place.
func sharedFlaw(tries []try) (flaw, bool) {
	if len(tries) < 2 {
		return flaw{}, false
	}
	for _, f := range tries[0].flaws {
		joined, everywhere := flaw{at: f.at, weight: tag, got: f.got}, f.want != nil
		for _, t := range tries {
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

// show writes a value for a message, short and on one line.
func show(v any) string {
	const most = 80
	if v == nil {
		return "null"
	}
	text := bundle.Canonical(v)
	if len(text) <= most {
		return text
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// meant proposes the word that a misspelt one may stand for.
func meant(word string, known []string) string {
	const longest = 64 // longer words are not worth comparing
	if len(word) > longest {
		return ""
	}
	if words := suggest.Words(word, known, 2); len(words) > 0 {
		return "; is " + show(words[0]) + " meant?"
	}
	return ""
}
