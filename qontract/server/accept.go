package server

import (
	"slices"
	"strconv"
	"strings"
)

// graphqlTypes are the content types in which Apollo answers, in its order of preference.
var graphqlTypes = []string{
	typeJSON,
	"application/graphql-response+json; charset=utf-8",
	"application/json; callbackspec=1.0; charset=utf-8",
}

// browserTypes are the content types that Apollo compares to find out whether a client is
// a browser, which prefers text/html.
var browserTypes = []string{
	graphqlTypes[0], graphqlTypes[1],
	"multipart/mixed; deferSpec=20220824", "multipart/mixed; incrementalSpec=v0.2", "multipart/mixed", "text/html",
}

// A mediaRange is one item of an Accept header.
type mediaRange struct {
	main, sub string
	params    map[string]string
	quality   float64
}

// preferredType returns the offered content type that an Accept header prefers, "" if it
// accepts none. An empty header accepts all.
func preferredType(accept string, offers []string) string {
	if accept == "" {
		return offers[0]
	}
	var ranges []mediaRange
	for item := range splitQuoted(accept, ',') {
		if m, ok := parseMediaRange(item); ok {
			ranges = append(ranges, m)
		}
	}
	best, rank := "", []float64{0, 0, 0}
	for _, offer := range offers {
		given, _ := parseMediaRange(offer)
		own := []float64{0, 0, 0} // exactness, quality and place of the best range for this offer
		for place, want := range ranges {
			exact, ok := want.match(given)
			if !ok {
				continue
			}
			if this := []float64{exact, want.quality, -float64(place)}; own[1] == 0 && own[0] == 0 && own[2] == 0 ||
				slices.Compare(this, own) > 0 {
				own = this
			}
		}
		if this := []float64{own[1], own[0], own[2]}; own[1] > 0 && (best == "" || slices.Compare(this, rank) > 0) {
			best, rank = offer, this
		}
	}
	return best
}

// match reports whether the range matches a content type. The more exactly it matches, the
// higher is exact.
func (m mediaRange) match(given mediaRange) (exact float64, ok bool) {
	switch {
	case strings.EqualFold(m.main, given.main):
		exact += 4
	case m.main != "*":
		return 0, false
	}
	switch {
	case strings.EqualFold(m.sub, given.sub):
		exact += 2
	case m.sub != "*":
		return 0, false
	}
	for name, v := range m.params {
		if v != "*" && !strings.EqualFold(v, given.params[name]) {
			return 0, false
		}
	}
	if len(m.params) > 0 {
		exact++
	}
	return exact, true
}

// parseMediaRange parses one item of an Accept header.
func parseMediaRange(item string) (mediaRange, bool) {
	m := mediaRange{quality: 1, params: map[string]string{}}
	for part := range splitQuoted(item, ';') {
		part = strings.TrimSpace(part)
		if m.main == "" {
			var ok bool
			if m.main, m.sub, ok = strings.Cut(part, "/"); !ok || m.main == "" {
				return m, false
			}
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.Trim(strings.TrimSpace(value), `"`)
		if name == "q" {
			m.quality, _ = strconv.ParseFloat(value, 64) // 0 if it is no number
		} else if name != "" {
			m.params[name] = value
		}
	}
	return m, m.main != ""
}

// splitQuoted splits a header at each mark that is outside of quotes.
func splitQuoted(s string, mark byte) func(func(string) bool) {
	return func(yield func(string) bool) {
		start, quoted := 0, false
		for i := range len(s) {
			switch {
			case s[i] == '"':
				quoted = !quoted
			case s[i] == mark && !quoted:
				if !yield(s[start:i]) {
					return
				}
				start = i + 1
			}
		}
		yield(s[start:])
	}
}
