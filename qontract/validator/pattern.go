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

// Limits on patterns. The time limit is generous, because a pattern that is fine must not
// become a finding on a busy machine.
const (
	patternTimeout   = 5 * time.Second // time for one text; a pattern that needs more is not used any more
	maxSlowPatterns  = 3               // number of slow patterns after which regexp2 is not used any more
	maxPatternLength = 10_000          // bytes
)

var errPatternLength = errors.New("longer than 10000 bytes")

// A pattern is a regular expression of Python's re. The package regexp2 is most similar to
// it: it has look-arounds, $ before a last line break, and \d for all digits. For simple
// patterns and printable ASCII texts the standard library gives the same result, and is
// always fast.
type pattern struct {
	text      string
	fast      *regexp.Regexp // nil if it may have another meaning than re
	re        *regexp2.Regexp
	slow      atomic.Bool
	slowCount *atomic.Int32 // number of slow patterns of the same library
	location  string        // URL of the place in the schema
}

// newPatternEngine returns a regular expression engine for the schema compiler.
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

// String returns the pattern as it is written in the schema.
func (p *pattern) String() string { return p.text }

// MatchString reports whether some part of the text matches. If matching takes too long, it
// returns true, and slowPatterns reports the pattern.
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
	if !p.slow.Swap(true) { // the only possible error is the time limit
		p.slowCount.Add(1)
	}
	return true
}

// isPrintableASCII reports whether a text consists of printable ASCII characters.
func isPrintableASCII(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// toDotNetSyntax rewrites constructs that .NET, and therefore regexp2, writes in another
// way than Python.
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
