package validator

import (
	"errors"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Limits on patterns. The time is generous, since a busy machine must not make
// a finding of an honest pattern.
const (
	patternTimeout   = 5 * time.Second // for one text, after which the pattern is given up
	maxSlowPatterns  = 3               // after as many slow patterns all are given up
	maxPatternLength = 10_000          // bytes
)

var errPatternLength = errors.New("longer than 10000 bytes")

// A pattern is a regular expression as Python's re has it, which regexp2 comes
// nearest to: look-arounds, $ before a last newline, \d for all digits. Where
// both agree, plain patterns on plain texts, the standard library is asked,
// which is always fast.
type pattern struct {
	text      string
	fast      *regexp.Regexp // nil when it may mean something else
	re        *regexp2.Regexp
	slow      atomic.Bool
	slowCount *atomic.Int32 // slow patterns of the same library
	location  string        // the place of the schema that has it
}

// patterns returns a regular expression engine for the schema compiler.
func newPatternEngine() jsonschema.RegexpEngine {
	all := new(atomic.Int32)
	return func(text string) (jsonschema.Regexp, error) {
		p, err := newPattern(text)
		if err != nil {
			return nil, err
		}
		p.slowCount = all
		return p, nil
	}
}

func newPattern(text string) (*pattern, error) {
	if len(text) > maxPatternLength {
		return nil, errPatternLength
	}
	re, err := regexp2.Compile(toDotNetSyntax(text), regexp2.None)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = patternTimeout
	p := &pattern{text: text, re: re, slowCount: new(atomic.Int32)}
	for _, construct := range []string{"[[", "{,", `\p`, `\P`, `\Q`, `\E`, `\z`, `\C`, `\x{`, "(?<", "(?U"} {
		if strings.Contains(text, construct) {
			return p, nil
		}
	}
	if quick, err := regexp.Compile(text); err == nil {
		p.fast = quick
	}
	return p, nil
}

// String returns the pattern as it was written.
func (p *pattern) String() string { return p.text }

// MatchString tells whether some part of the text fits. A text on which it
// takes too long counts as fitting; the library tells of it.
func (p *pattern) MatchString(text string) bool {
	if p.fast != nil && isPrintableASCII(text) {
		return p.fast.MatchString(text)
	}
	if p.slow.Load() || p.slowCount.Load() >= maxSlowPatterns {
		return true
	}
	ok, err := p.re.MatchString(text)
	if err == nil {
		return ok
	}
	if !p.slow.Swap(true) { // the only error is the time limit
		p.slowCount.Add(1)
	}
	return true
}

// isPlain tells whether a text is printable ASCII.
func isPrintableASCII(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// fromPython rewrites what .NET, and so regexp2, spells differently.
func toDotNetSyntax(text string) string {
	if !strings.Contains(text, `\Z`) && !strings.Contains(text, "(?P") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch {
		case strings.HasPrefix(rest, `\Z`):
			b.WriteString(`\z`)
			i++
		case rest[0] == '\\' && len(rest) > 1:
			b.WriteString(rest[:2])
			i++
		case strings.HasPrefix(rest, "(?P<"):
			b.WriteString("(?<")
			i += 3
		default:
			b.WriteByte(rest[0])
		}
	}
	return b.String()
}
