package baseline

import (
	"strconv"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// A kind is what a token of a line is. Everything between tokens is words.
type kind byte

// The kinds of tokens.
const (
	number     kind = 'n' // 12, 0.5, 3m2s
	identifier kind = 'i' // digits and letters together: c7, 0x7f00, a UUID, tmpab12cd34
	moment     kind = 't' // a date, a time of day, or both
)

// A token is a part of a line that may differ from run to run.
type token struct {
	kind kind
	text string
}

// Parts of the pattern of tokens.
const (
	datePart   = `\d{4}[-/]\d\d[-/]\d\d`
	clockPart  = `\d\d:\d\d:\d\d(?:[.,]\d+)?`
	zonePart   = `(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?`
	momentPart = datePart + `(?:[T ]` + clockPart + zonePart + `)?|` + clockPart + zonePart
	uuidPart   = `[0-9a-fA-F]{4,}(?:-[0-9a-fA-F]{4,})+|tmp[a-z0-9_]{8}`
	lengthPart = `(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|h|m|s))+|\d+(?:\.\d+)?`
	mixedPart  = `[A-Za-z0-9_]*[0-9][A-Za-z0-9_]*`
)

// tokens matches a token; the groups are those of a moment, an identifier by its form, a
// number, and any other identifier.
var tokens = lazyregexp.New(`\b(?:(` + momentPart + `)|(` + uuidPart + `)|(` + lengthPart + `)|(` + mixedPart + `))\b`)

// placeholders stand for tokens in the words of a line.
var placeholders = map[kind]string{number: "\x01", identifier: "\x01", moment: "\x02"}

// inRun stands for a time at which the run was going on.
const inRun = "(time of the run)"

// split divides a line into its words, with a placeholder for each token, and its tokens.
// A time within the span of the run becomes the same text in every run.
func (s span) split(line string) (words string, out []token) {
	var b strings.Builder
	at := 0
	for _, m := range tokens.FindAllStringSubmatchIndex(line, -1) {
		t := token{text: line[m[0]:m[1]]}
		switch {
		case m[2] >= 0:
			t.kind = moment
			if s.hasMoment(t.text) {
				t.text = inRun
			}
		case m[6] >= 0 && s.hasEpoch(t.text):
			t = token{moment, inRun}
		case m[6] >= 0:
			t.kind = number
		case m[4] >= 0 && !strings.ContainsAny(t.text, "0123456789") && !strings.HasPrefix(t.text, "tmp"):
			continue // words such as cafe-face
		default:
			t.kind = identifier
		}
		b.WriteString(line[at:m[0]])
		b.WriteString(placeholders[t.kind])
		out, at = append(out, t), m[1]
	}
	b.WriteString(line[at:])
	return b.String(), out
}

// isAlike reports whether two tokens are of one kind. A hexadecimal id may happen to have
// digits only.
func (t token) isAlike(o token) bool {
	if t.kind == o.kind {
		return true
	}
	return t.kind != moment && o.kind != moment && len(t.text) == len(o.text) && len(t.text) >= minHex &&
		hexadecimal.MatchString(t.text+o.text)
}

// minHex is the length from which a text of digits may be a hexadecimal id.
const minHex = 6

var hexadecimal = lazyregexp.New(`^[0-9a-fA-F]+$`)

// A span is when a run began and ended. The zero value has no times.
type span struct{ began, ended time.Time }

// tolerance is how far a time that a program writes may lie outside of the span: programs
// cut fractions of seconds off.
const tolerance = time.Second

// has reports whether a time lies within the span.
func (s span) has(t time.Time) bool {
	return !s.began.IsZero() && !t.Before(s.began.Add(-tolerance)) && !t.After(s.ended.Add(tolerance))
}

var (
	dateAndClock = lazyregexp.New(`^(\d{4})[-/](\d\d)[-/](\d\d)[T ](` + clockPart + `)(.*)$`)
	clockOnly    = lazyregexp.New(`^(` + clockPart + `)(.*)$`)
)

// hasMoment reports whether a text is a time within the span. A time without a zone may be
// in UTC or in the zone of this machine. A date alone is none.
func (s span) hasMoment(text string) bool {
	day, clock, zone := "", "", ""
	if m := dateAndClock.FindStringSubmatch(text); m != nil {
		day, clock, zone = m[1]+"-"+m[2]+"-"+m[3], m[4], m[5]
	} else if m := clockOnly.FindStringSubmatch(text); m != nil {
		clock, zone = m[1], m[2]
	} else {
		return false
	}
	for _, loc := range zones(zone, s.began.Location()) {
		days := []string{day}
		if day == "" {
			days = []string{s.began.In(loc).Format(time.DateOnly), s.ended.In(loc).Format(time.DateOnly)}
		}
		for _, d := range days {
			if t, err := time.ParseInLocation(time.DateTime, d+" "+strings.Replace(clock, ",", ".", 1), loc); err == nil &&
				s.has(t) {
				return true
			}
		}
	}
	return false
}

// zones returns the zones that a time with this ending may be in.
func zones(ending string, local *time.Location) []*time.Location {
	ending = strings.TrimSpace(ending)
	switch ending {
	case "":
		return []*time.Location{time.UTC, local}
	case "Z", "UTC":
		return []*time.Location{time.UTC}
	}
	t, err := time.Parse("-0700", strings.Replace(ending, ":", "", 1))
	if err != nil {
		return nil
	}
	return []*time.Location{t.Location()}
}

// Lengths of times in seconds and in milliseconds since 1970, without a fraction.
const (
	secondDigits = 10
	milliDigits  = 13
)

// hasEpoch reports whether a number is a time within the span, in seconds or milliseconds
// since 1970.
func (s span) hasEpoch(text string) bool {
	whole, _, _ := strings.Cut(text, ".")
	n, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return false
	case len(whole) == secondDigits:
		return s.has(time.UnixMilli(int64(n * 1000)))
	case len(whole) == milliDigits:
		return s.has(time.UnixMilli(int64(n)))
	}
	return false
}
