package peers

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
)

// A maker makes inputs from a seed.
type maker struct{ *rand.Rand }

// one returns one of some values.
func one[V any](m maker, of ...V) V { return of[m.IntN(len(of))] }

// isOften reports true in n of a hundred cases.
func (m maker) isOften(n int) bool { return m.IntN(100) < n }

// some returns texts that another function makes, joined.
func (m maker) some(from, to int, by string, part func() string) string {
	parts := make([]string, from+m.IntN(to-from+1))
	for i := range parts {
		parts[i] = part()
	}
	return strings.Join(parts, by)
}

// mutated returns a text with a part lost, doubled, or taken from somewhere else; sometimes with a sign of others.
func (m maker) mutated(text, signs string) string {
	runes := []rune(text)
	if len(runes) == 0 {
		return text
	}
	from := m.IntN(len(runes))
	to := from + min(1+m.IntN(4), len(runes)-from)
	switch m.IntN(4) {
	case 0:
		return string(runes[:from]) + string(runes[to:])
	case 1:
		return string(runes[:to]) + string(runes[from:])
	case 2:
		return string(runes[:from]) + one(m, strings.Split(signs, "")...) + string(runes[to:])
	}
	return string(runes[:from]) + one(m, strings.Split(signs, "")...) + string(runes[from:])
}

// number returns a number as it is written.
func (m maker) number() json.Number {
	switch m.IntN(6) {
	case 0:
		return one[json.Number](m, "0", "-0", "0.0", "1.0", "1e2", "1E-2", "9007199254740993", "0.1", "0.30000000000000004",
			"1e308", "-1.50")
	case 1:
		return json.Number(m.digit() + "." + m.some(1, 3, "", m.digit))
	}
	return one[json.Number](m, "0", "1", "2", "3", "5", "10", "-1", "-2", "0.5", "1.5", "2.5", "100")
}

func (m maker) digit() string { return one(m, strings.Split("0123456789", "")...) }
