package baseline

import (
	"regexp"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

// A normal makes lines of logs comparable.
type normal struct {
	names *strings.Replacer
	raw   []string // the lines that count, as they were written
}

func newNormal(names []string) *normal {
	var pairs []string
	for _, name := range names {
		if name != "" {
			pairs = append(pairs, name, "(bundle)")
		}
	}
	return &normal{names: strings.NewReplacer(pairs...)}
}

// quiet is a line that calls itself INFO or DEBUG, behind a time or not.
var quiet = regexp.MustCompile(`^(?:` +
	`(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d[^\]\s]*\]?[ \t]+)?(?:\[(?:DEBUG|INFO)\](?:[ \t:]|$)|(?:DEBUG|INFO)(?:[ \t]|:))` +
	`|(?:(?:time|ts)=(?:"[^"]*"|\S+) )?level="?(?i:debug|info)"?(?: |$)` +
	`|\{"(?:time|ts|timestamp)":"[^"]*","level":"(?i:debug|info)",` +
	`)`)

// colors are the only terminal escapes that are taken out of a line. Others may
// swallow what follows them.
var colors = regexp.MustCompile("\x1b\\[[0-9;]*m")

// noise is what differs from run to run, and what stands for it.
var noise = []struct {
	what *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`\b\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z\b|UTC\b|[+-]\d\d:?\d\d\b))?`), "(time)"},
	{regexp.MustCompile(`(^|[^:\w])\d\d:\d\d:\d\d(?:[.,]\d+)?($|[^:\w])`), "${1}(time)${2}"},
	{regexp.MustCompile(`\b(after|took|in|elapsed|elapsed:|duration:|duration=|took=|elapsed=)( ?)(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?(?: ?(?:ns|[uµ]s|ms|s|sec|secs|seconds?|minutes?))\b`), "${1}${2}(duration)"},
	{regexp.MustCompile(`\b\d+\.\d+(?: ?(?:ns|[uµ]s|ms|s|sec|secs|seconds?))\b`), "(duration)"},
	{regexp.MustCompile(`\b0x[0-9a-fA-F]{6,16}\b`), "(address)"},
	{regexp.MustCompile(`(\b127\.0\.0\.1|\blocalhost|\[::1\]):\d{2,5}\b`), "${1}:(port)"},
	{regexp.MustCompile(`\b((?i:pid)[ =:]{1,2}|goroutine |[Tt]hread-|ThreadPoolExecutor-\d+_)\d+\b`), "${1}(id)"},
	{regexp.MustCompile(`^([A-Za-z][\w.-]*\[)\d+(\]:)`), "${1}(id)${2}"},
	{regexp.MustCompile(`(?i)\b((?:x-)?(?:amzn-|github-)?(?:request|trace|span|correlation)[-_ ]?id["']?[ =:]{1,3}["']?)[0-9A-Za-z][0-9A-Za-z:-]{7,}`), "${1}(id)"},
	{regexp.MustCompile(`((?:/var|/private)?/tmp/(?:[A-Za-z._-]{0,40}?))(?:\d{6,}|tmp[._]?[A-Za-z0-9_]{6,10}\b)`), "${1}(temporary)"},
}

// lines returns the lines of a failure that count, comparable with those of
// another run. A reason that says more than an exit code is one of them.
func (n *normal) lines(r plan.Result, log string) []string {
	var out []string
	n.raw = nil
	add := func(line string) {
		if line = strings.TrimRight(line, " \t\n"); line == "" || quiet.MatchString(line) {
			return
		}
		n.raw = append(n.raw, line)
		out = append(out, n.line(line))
	}
	if r.Reason != exitReason(r) {
		add(r.Reason)
	}
	for line := range strings.FieldsFuncSeq(log, func(r rune) bool { return r == '\n' || r == '\r' }) {
		add(colors.ReplaceAllString(line, ""))
	}
	return out
}

// line makes one line comparable.
func (n *normal) line(line string) string {
	line = n.names.Replace(line)
	for _, x := range noise {
		line = x.what.ReplaceAllString(line, x.with)
	}
	return line
}
