package baseline

import (
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// A line is a line of a log that counts in a comparison, or a line of level INFO.
type line struct {
	shown   string  // as the program wrote it
	words   string  // the line with a placeholder for each token
	tokens  []token // parts that may be noise
	context context
}

// A context is the nearest INFO line before a line that announces no effect. It tells
// where the program was.
type context struct {
	words  string
	tokens []token
}

// text returns the line with its tokens, as it is compared.
func (l line) text() string { return join(l.words, l.tokens) }

// text returns the context with its tokens, as it is compared.
func (c context) text() string { return join(c.words, c.tokens) }

// join returns words and tokens as one text that no other words and tokens have.
func join(words string, tokens []token) string {
	var b strings.Builder
	b.WriteString(words)
	for _, t := range tokens {
		b.WriteByte(0)
		b.WriteString(t.text)
	}
	return b.String()
}

// A counting says which lines count in a comparison.
type counting int

// The countings. A line announces an effect if a dry run says in it what it would do.
const (
	allButEffects counting = iota // lines that are not of level DEBUG, and announce no effect at level INFO
	alsoEffects                   // lines that are not of level INFO or DEBUG, and lines that announce effects
	all                           // all lines
)

// A record is all that is compared of one run.
type record struct {
	lines    []line          // in order
	contexts map[string]bool // texts of all INFO lines that announce no effect
	left     int             // how many lines do not count
}

// colorEscapes matches the terminal escapes for colors. No other escape is removed from a
// line, since a terminal may treat the text after it as a part of the escape.
var colorEscapes = lazyregexp.New("\x1b\\[[0-9;]*m")

// saysOnlyInfo reports whether a run has no line but those of level INFO.
func saysOnlyInfo(f Run) bool {
	for l := range rawLines(f) {
		if !infoOrDebugLine.MatchString(l) {
			return false
		}
	}
	return true
}

// rawLines returns the lines of a run. The first is the result's reason, unless it
// only repeats the exit code.
func rawLines(f Run) func(func(string) bool) {
	return func(yield func(string) bool) {
		if f.Result.Reason != exitCodeReason(f.Result) && f.Result.Reason != "" && !yield(f.Result.Reason) {
			return
		}
		for l := range strings.FieldsFuncSeq(f.Log, func(r rune) bool { return r == '\n' || r == '\r' }) {
			l = strings.TrimRight(colorEscapes.ReplaceAllString(l, ""), " \t")
			if l != "" && !yield(l) {
				return
			}
		}
	}
}

// read returns what is compared of a run.
func read(f Run, counts counting) record {
	out := record{contexts: map[string]bool{}}
	handedOut := replacer(f.HandedOut)
	s := span{f.Began, f.Ended}
	at := context{}
	for shown := range rawLines(f) {
		words, tokens := s.split(withoutTime(handedOut.Replace(shown), s))
		isInfo, isEffect := infoOrDebugLine.MatchString(shown), effect.MatchString(shown)
		switch l := (line{shown: shown, words: words, tokens: tokens, context: at}); {
		case !counts.count(shown, isInfo, isEffect):
			out.left++
		case isInfo && counts == allButEffects:
			l.context = context{} // its own order counts
			fallthrough
		default:
			out.lines = append(out.lines, l)
		}
		if isInfo && !isEffect && counts != all && !debugLine.MatchString(shown) {
			at = context{words, tokens}
			out.contexts[at.text()] = true
		}
	}
	return out
}

// count reports whether a line counts.
func (c counting) count(shown string, isInfo, isEffect bool) bool {
	switch {
	case c == all || !isInfo:
		return true
	case c == alsoEffects:
		return isEffect
	}
	return !isEffect && !debugLine.MatchString(shown)
}

// replacer replaces the values that the runner handed out, the longest first.
func replacer(values []string) *strings.Replacer {
	sorted := slices.Clone(values)
	slices.SortFunc(sorted, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, v := range sorted {
		if v != "" {
			pairs = append(pairs, v, "(handed out)")
		}
	}
	return strings.NewReplacer(pairs...)
}

// leadingMoment matches a time at the beginning of a line.
var leadingMoment = lazyregexp.New(`^(?:` + datePart + `[T ]` + clockPart + zonePart + `)`)

// withoutTime removes the time at the beginning of a line: if the line is a record of a
// log by its form, or if the time lies within the span of the run.
func withoutTime(l string, s span) string {
	if m := recordTime.FindStringSubmatchIndex(l); m != nil {
		kept := ""
		for g := 2; g < len(m); g += 2 {
			if m[g] >= 0 {
				kept += l[m[g]:m[g+1]]
			}
		}
		return kept + l[m[1]:]
	}
	if t := leadingMoment.FindString(l); t != "" && s.hasMoment(t) {
		return strings.TrimLeft(l[len(t):], " \t")
	}
	return l
}
