package validator

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/suggest"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// A weight says how strongly a flaw speaks against the alternative in which it was found.
type weight int

const (
	weightPlain  weight = iota
	weightChoice        // the value is not one of several allowed values
	weightType          // the value has the wrong type
	weightTag           // the value is not the only allowed value, which usually identifies the alternative
)

// A flaw is one way in which a value does not fit its schema.
type flaw struct {
	at       string
	weight   weight
	describe func() string // makes the message; nil if the message consists of got and want
	got      any
	want     []any // allowed values
}

// message returns the message of a finding.
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

// shortJSON writes a value as JSON for a message. It cuts long values.
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

// suggestion proposes the known word that a misspelt word may stand for, or returns "".
func suggestion(word string, known []string) string {
	const longest = 64 // comparing longer words is not worth the time
	if len(word) > longest {
		return ""
	}
	if words := suggest.Words(word, known, 2); len(words) > 0 {
		return "; is " + shortJSON(words[0]) + " meant?"
	}
	return ""
}
