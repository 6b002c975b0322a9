package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// A Verdict is the answer of a whole check.
type Verdict string

// The verdicts. NotChecked means that the check has no answer, because tasks could not
// run or because the environment of all tasks is broken.
const (
	VerdictPassed     Verdict = "passed"
	VerdictFailed     Verdict = "failed"
	VerdictNotChecked Verdict = "not_checked"
)

// minBroken is how many tasks must fail as on base, while none passes, for the whole
// environment to count as broken.
const minBroken = 2

// Verdict returns the answer of the results. A failure that belongs to the change comes
// before all else. The results of one of several parts never say that the environment
// is broken, because a task of another part may have passed. Verdict does not know of
// missing results; [MergeResults] adds these.
func (rs *Results) Verdict() Verdict {
	isShort := func(r Result) bool { return r.Class == ClassEnvironment }
	switch {
	case slices.ContainsFunc(rs.Results, func(r Result) bool { return r.Blocks() && !isShort(r) }):
		return VerdictFailed
	case slices.ContainsFunc(rs.Results, isShort), rs.isBroken():
		return VerdictNotChecked
	}
	return VerdictPassed
}

// isBroken reports whether no task passed and at least two fail as on base. Tasks that need not
// run because they passed a short time ago passed, too: they show that tasks can pass.
func (rs *Results) isBroken() bool {
	if rs.Reused > 0 {
		return false
	}
	broken := 0
	for _, r := range rs.Results {
		switch {
		case r.OK():
			return false
		case r.OnBase():
			broken++
		}
	}
	return broken >= minBroken && rs.Part.Of < 2
}

// WhyNotChecked says in one line why the check has no answer, and what the tasks have in
// common. It returns "" for every other verdict.
func (rs *Results) WhyNotChecked() string {
	if rs.Verdict() != VerdictNotChecked {
		return ""
	}
	var short, broken []Result
	for _, r := range rs.Results {
		switch {
		case r.Class == ClassEnvironment:
			short = append(short, r)
		case r.OnBase():
			broken = append(broken, r)
		}
	}
	text := fmt.Sprintf("no task passed, and %d fail the same way on base", len(broken))
	shared := commonLine(broken)
	if len(short) > 0 {
		text = fmt.Sprintf("%d of %d tasks could not be checked on this machine", len(short), len(rs.Results))
		shared = commonText(short, func(r Result) []string { return []string{r.Reason} })
	}
	if shared != "" {
		text += "; all of them say: " + shared
	}
	return text
}

// Patterns of the parts of a line that say nothing about its cause: the time at its
// beginning, and numbers.
var (
	leadingTime = lazyregexp.New(`^\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d[^\]\s]*\]?\s+`)
	figures     = lazyregexp.New(`[0-9]+`)
)

// maxShared bounds a line that all tasks have in common, in characters.
const maxShared = 200

// commonLine returns the line that the outputs of several results have in common: the
// last line if that is the same in all, else the longest line. It returns "" if there is
// none. Numbers and the time at the beginning of a line may differ.
func commonLine(results []Result) string {
	last := commonText(results, func(r Result) []string {
		lines := outputLines(r)
		return lines[max(0, len(lines)-1):]
	})
	if last != "" {
		return last
	}
	return commonText(results, outputLines)
}

// outputLines returns the lines of a result's output without times and empty lines.
func outputLines(r Result) []string {
	var out []string
	for line := range strings.SplitSeq(r.Tail, "\n") {
		line = leadingTime.ReplaceAllString(strings.TrimSpace(line), "")
		if line != "" && !strings.HasPrefix(line, "Traceback (most recent call last)") {
			out = append(out, line)
		}
	}
	return out
}

// commonText returns the longest of the texts that all results have in common, in the
// words of the first result.
func commonText(results []Result, texts func(Result) []string) string {
	if len(results) == 0 {
		return ""
	}
	common := texts(results[0])
	for _, r := range results[1:] {
		has := map[string]bool{}
		for _, t := range texts(r) {
			has[figures.ReplaceAllString(t, "0")] = true
		}
		common = slices.DeleteFunc(common, func(t string) bool { return !has[figures.ReplaceAllString(t, "0")] })
	}
	longest := ""
	for _, t := range common {
		if len(t) > len(longest) {
			longest = t
		}
	}
	return bound(longest)
}

// bound cuts a text that is too long to be shown.
func bound(text string) string {
	if utf8.RuneCountInString(text) <= maxShared {
		return text
	}
	return string([]rune(text)[:maxShared]) + "…"
}
