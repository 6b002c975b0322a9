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
	weightPlain  weight = iota
	weightChoice        // not one of several values
	weightType          // another type
	weightTag           // not the one value that tells the alternatives apart
)

// A flaw is one way in which a value does not fit its schema.
type flaw struct {
	at       string
	weight   weight
	describe func() string // nil when it is told by got and want
	got      any
	want     []any // the values that are allowed
}

// message says what was found.
func (f flaw) message() string {
	if f.describe != nil {
		return f.describe()
	}
	words := make([]string, 0, len(f.want))
	for _, w := range f.want {
		if text := shortJSON(w); !slices.Contains(words, text) {
			words = append(words, text)
		}
	}
	if len(words) == 1 {
		return fmt.Sprintf("%s is not %s", shortJSON(f.got), words[0])
	}
	const most = 12
	if len(words) > most {
		words = append(words[:most], fmt.Sprintf("%d more", len(words)-most))
	}
	text := fmt.Sprintf("%s is not one of %s", shortJSON(f.got), strings.Join(words, ", "))
	if got, ok := f.got.(string); ok {
		text += suggestion(got, onlyStrings(f.want))
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

// show writes a value for a message, short and on one line.
func shortJSON(v any) string {
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
func suggestion(word string, known []string) string {
	const longest = 64 // longer words are not worth comparing
	if len(word) > longest {
		return ""
	}
	if words := suggest.Words(word, known, 2); len(words) > 0 {
		return "; is " + shortJSON(words[0]) + " meant?"
	}
	return ""
}
