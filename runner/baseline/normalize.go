package baseline

import (
	"regexp"
	"strings"
)

// A normalizer replaces the parts of a log that differ from run to run.
type normalizer struct {
	bundleNames *strings.Replacer
}

// newNormalizer returns a normalizer that also replaces the names of bundles.
func newNormalizer(bundleNames []string) normalizer {
	var pairs []string
	for _, name := range bundleNames {
		if name != "" {
			pairs = append(pairs, name, "(bundle)")
		}
	}
	return normalizer{strings.NewReplacer(pairs...)}
}

// infoOrDebugLine matches a line of level INFO or DEBUG, with or without a time before
// the level: as plain text, as logfmt, and as JSON.
var infoOrDebugLine = regexp.MustCompile(`^(?:` +
	`(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d[^\]\s]*\]?[ \t]+)?(?:\[(?:DEBUG|INFO)\](?:[ \t:]|$)|(?:DEBUG|INFO)(?:[ \t]|:))` +
	`|(?:(?:time|ts)=(?:"[^"]*"|\S+) )?level="?(?i:debug|info)"?(?: |$)` +
	`|\{"(?:time|ts|timestamp)":"[^"]*","level":"(?i:debug|info)",` +
	`)`)

// colorEscapes matches the terminal escapes for colors. No other escape is removed from a
// line, since a terminal may treat the text after it as a part of the escape.
var colorEscapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// variableParts are the parts of a line that differ from run to run, in this order: times
// with a date, times of day, durations after a word, durations with a fraction, memory
// addresses, local ports, ids of processes and threads, ids of processes in syslog's
// form, ids of requests, and names of temporary files.
var variableParts = []struct {
	pattern     *regexp.Regexp
	replacement string
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

// A logLine is a line that counts in a comparison.
type logLine struct {
	original   string
	normalized string
}

// lines returns the lines of a failure that count. The first is the result's reason,
// unless it only repeats the exit code.
func (n normalizer) lines(f Failure) []logLine {
	var out []logLine
	add := func(line string) {
		line = strings.TrimRight(line, " \t\n")
		if line != "" && !infoOrDebugLine.MatchString(line) {
			out = append(out, logLine{line, n.normalize(line)})
		}
	}
	if f.Result.Reason != exitCodeReason(f.Result) {
		add(f.Result.Reason)
	}
	for line := range strings.FieldsFuncSeq(f.Log, func(r rune) bool { return r == '\n' || r == '\r' }) {
		add(colorEscapes.ReplaceAllString(line, ""))
	}
	return out
}

// normalize replaces the variable parts of a line.
func (n normalizer) normalize(line string) string {
	line = n.bundleNames.Replace(line)
	for _, part := range variableParts {
		line = part.pattern.ReplaceAllString(line, part.replacement)
	}
	return line
}
