package baseline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
)

// A Run is a run of a task on one side.
type Run struct {
	Result       plan.Result
	Log          string    // everything that the task wrote, with secrets masked
	LogErr       error     // says why the log is missing or incomplete; nil if it is complete
	HandedOut    []string  // values that the runner gave to this run, such as the address of its server
	Began, Ended time.Time // of the last attempt; zero if that is not known
}

// A Comparison says how a task that failed on head ended on base.
type Comparison struct {
	Same        bool     // it failed on base in the same way
	Finding     string   // the comparison in one line, such as "passes on base"
	Fingerprint string   // identifies the failure on base; "" unless Same
	Lines       int      // how many lines were compared
	LeftOut     []string // what was not compared, unless nothing was compared
	hidden      bool     // nothing can be said, see IsClear
	// Unclear means that another run on base may show that the differences are noise.
	Unclear bool
}

// MaxRuns is the number of runs on base after which no further run is made. More than two
// are made only if the order of lines differs between runs on base.
const MaxRuns = 4

// IsComparable reports whether a result may be compared with base: the task failed by
// itself, ran to its end, and reported the failure by an exit code. All other failures
// belong to the change: a failure because of data or settings, a timeout, a signal.
func IsComparable(t plan.Task, r plan.Result) bool {
	switch {
	case r.Status != plan.Failed || r.Class != plan.ClassTask && r.Class != plan.ClassTransient:
		return false
	case t.Native:
		return r.ExitCode < 0
	}
	return r.ExitCode > 0 && r.Reason == exitCodeReason(r)
}

// exitCodeReason returns the reason of a result that is known by its exit code only.
func exitCodeReason(r plan.Result) string { return fmt.Sprintf("exit code %d", r.ExitCode) }

// Compare reports whether a task that failed on head fails in the same way on base. There
// is at least one run on base. What differs between two runs on base is noise.
func Compare(t plan.Task, head Run, base ...Run) Comparison {
	if c, isDecided := CompareResults(t, head.Result, base[0].Result); isDecided {
		return c
	}
	if head.LogErr != nil {
		return notComparable("its log cannot be compared: " + head.LogErr.Error())
	}
	for i, b := range base {
		if c, isDecided := CompareResults(t, base[0].Result, b.Result); i > 0 && isDecided {
			return notComparable("another run there ended in another way: " +
				strings.TrimPrefix(c.Finding, "not comparable with base: "))
		}
		if b.LogErr != nil {
			return notComparable("its log on base cannot be compared: " + b.LogErr.Error())
		}
	}
	counts := allButEffects
	if saysOnlyInfo(head) {
		counts = all
	}
	if len(read(head, counts).lines) == 0 { // what it would do is no reason
		return notComparable("its log does not say why it fails")
	}
	return compareLogs(head, base, counts)
}

// CompareResults compares two results without their logs. The comparison is decided
// unless both sides ended in the same way.
func CompareResults(t plan.Task, head, base plan.Result) (c Comparison, isDecided bool) {
	switch {
	case base.OK():
		return Comparison{Finding: "passes on base"}, true
	case !IsComparable(t, head) || !IsComparable(t, base):
		return notComparable(base.Reason), true
	case head.ExitCode != base.ExitCode:
		return differs(fmt.Sprintf("exit code %d", base.ExitCode)), true
	case head.Class != base.Class:
		return differs(fmt.Sprintf("class %s", base.Class)), true
	}
	return c, false
}

// compareLogs compares the lines that count: those of head with those of the first run on
// base that has the same words.
func compareLogs(head Run, base []Run, counts counting) Comparison {
	h := read(head, counts)
	runs := make([]record, len(base))
	for i, b := range base {
		runs[i] = read(b, counts)
	}
	at := slices.IndexFunc(runs, func(r record) bool { return hasSameWords(r.lines, h.lines) })
	if at < 0 {
		c := differs(describeExtra(head.Result, runs[0].lines, h.lines))
		// Base was tried twice, so an error of its own may have come between.
		c.Unclear = len(base[0].Result.Before) > 0 && len(base) < MaxRuns && hasWordsOf(runs[0].lines, h.lines)
		return c
	}
	n := newNoise(at, runs)
	first := runs[at]
	pairs, _ := match(first.lines, h.lines, n)
	c := Comparison{Lines: len(h.lines)}
	found := differences(first.lines, h.lines, pairs, n)
	left := slices.DeleteFunc(slices.Clone(found), func(d difference) bool { return d.isNoise })
	if len(left) == 0 {
		c.Same, c.Finding, c.Fingerprint = true, "fails the same way on base", fingerprint(first.lines)
		c.LeftOut = leftOut(base[at].Result, h, first, found)
		return c
	}
	c.Finding = differs(describe(head.Result, h.lines[pairs[left[0].line]], left[0])).Finding
	c.Unclear = mayBeNoise(left, len(base), n)
	return c
}

// mayBeNoise reports whether another run on base may show that differences are noise. A
// second run with the same words may show it for every kind of noise. Further runs may
// show more of the orders in which lines come, if the order differs on base at all.
func mayBeNoise(left []difference, runs int, n noise) bool {
	isHopeless := func(d difference) bool { return !d.mayBe || n.runs > 1 && !d.ordering }
	if slices.ContainsFunc(left, isHopeless) || runs >= MaxRuns {
		return false
	}
	return n.runs == 1 || len(n.moved)+len(n.contexts) > 0
}

// fingerprint returns a text that identifies a failure by the words of its lines.
func fingerprint(lines []line) string {
	var words []string
	for _, l := range lines {
		words = append(words, l.words)
	}
	slices.Sort(words)
	return state.Name(words...)
}

// notComparable returns the comparison for results of which nothing can be said.
func notComparable(why string) Comparison {
	return Comparison{Finding: "not comparable with base: " + sanitize.Line(why)}
}

// differs returns the comparison for failures that are not the same.
func differs(what string) Comparison {
	return Comparison{Finding: "fails differently on base: " + what}
}

// CompareUnaffected reports whether a task that a change should not concern says the same on
// head as on base. There is at least one run on base. It is stricter than [Compare]: the task
// may pass, and lines in which a dry run says what it would do count as well. What differs
// between two runs on base is noise here, too.
//
// All runs must have been started in the same way. A task that ends in a way from which nothing
// follows cannot be compared: it timed out on both sides, got a signal, or was not run.
func CompareUnaffected(t plan.Task, head Run, base ...Run) Comparison {
	h, b := ending(t, head.Result), ending(t, base[0].Result)
	isOther := func(r Run) bool { return ending(t, r.Result) != b }
	switch {
	case h == "" || b == "" || h == timedOut && b == timedOut:
		return Unclear("it says nothing: " + reasonOf(head.Result) + "; on base: " + reasonOf(base[0].Result))
	case slices.ContainsFunc(base, isOther):
		return Unclear("runs on base end in different ways")
	case h != b:
		return Comparison{Finding: sanitize.Line(h + "; on base: " + b)}
	}
	if isConfig(head.Result) {
		return Comparison{Same: true, Finding: "ends the same way on base"}
	}
	for _, r := range append(slices.Clone(base), head) {
		if r.LogErr != nil {
			return Unclear("a log cannot be compared: " + r.LogErr.Error())
		}
	}
	counts := alsoEffects
	if !head.Result.OK() && saysOnlyInfo(head) {
		counts = all
	}
	c := compareLogs(head, base, counts)
	if c.Same {
		c.Finding = "says the same on base"
	} else if what, ok := strings.CutPrefix(c.Finding, differs("").Finding); ok {
		c.Finding = "says something else on base: " + what
	}
	return c
}

// IsClear reports whether a comparison says that both sides are the same, or that they differ.
func (c Comparison) IsClear() bool { return c.Same || !c.hidden }

// Unclear returns the comparison for runs of which nothing can be said.
func Unclear(why string) Comparison { return Comparison{Finding: sanitize.Line(why), hidden: true} }

// timedOut is the ending of a task that took too long.
const timedOut = "it timed out"

// ending says in a few words how a task ended, "" if nothing follows from it.
func ending(t plan.Task, r plan.Result) string {
	switch {
	case r.OK():
		return "it passes"
	case r.Status == plan.TimedOut:
		return timedOut
	case t.Native && IsComparable(t, r): // its reason is a line that is compared
		return "it fails"
	case isConfig(r), IsComparable(t, r):
		return "it fails: " + r.Reason
	}
	return ""
}

// isConfig reports whether a task failed because its data or settings are wrong.
func isConfig(r plan.Result) bool { return r.Status == plan.Failed && r.Class == plan.ClassConfig }

// reasonOf returns how a task ended in its own words.
func reasonOf(r plan.Result) string {
	if r.Reason == "" {
		return string(r.Status)
	}
	return r.Reason
}
