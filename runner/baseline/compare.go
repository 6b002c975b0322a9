package baseline

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
)

// A Failure is a failed run of a task on one side.
type Failure struct {
	Result plan.Result
	Log    string // everything that the task wrote, with secrets masked
	LogErr error  // says why the log is missing or incomplete; nil if it is complete
}

// A Comparison says how a task that failed on head ended on base.
type Comparison struct {
	Same        bool   // it failed on base in the same way
	Finding     string // the comparison in one line, such as "passes on base"
	Fingerprint string // identifies the failure on base; "" unless Same
}

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

// Compare reports whether a task that failed on head fails in the same way on base. The
// bundle names are texts that stand for a bundle in logs, such as its sha256. They differ
// between the sides, so they are not compared.
func Compare(t plan.Task, head, base Failure, bundleNames ...string) Comparison {
	if c, isDecided := compareResults(t, head.Result, base.Result); isDecided {
		return c
	}
	switch {
	case head.LogErr != nil:
		return notComparable("its log cannot be compared: " + head.LogErr.Error())
	case base.LogErr != nil:
		return notComparable("its log on base cannot be compared: " + base.LogErr.Error())
	}
	return compareLogs(head, base, newNormalizer(bundleNames))
}

// compareResults compares the results without their logs. The comparison is decided
// unless both sides ended in the same way.
func compareResults(t plan.Task, head, base plan.Result) (c Comparison, isDecided bool) {
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

// compareLogs compares the lines that count. Each line of head must be on base at least
// as often as on head.
func compareLogs(head, base Failure, n normalizer) Comparison {
	headLines, baseLines := n.lines(head), n.lines(base)
	if len(headLines) == 0 {
		return notComparable("its log does not say why it fails")
	}
	unmatched := map[string]int{}
	var fingerprint []string
	for _, line := range baseLines {
		unmatched[line.normalized]++
		fingerprint = append(fingerprint, line.normalized)
	}
	for _, line := range headLines {
		if unmatched[line.normalized]--; unmatched[line.normalized] < 0 {
			return differs(describeMissing(head.Result, line.original))
		}
	}
	return Comparison{Same: true, Finding: "fails the same way on base", Fingerprint: state.Name(fingerprint...)}
}

// notComparable returns the comparison for results of which nothing can be said.
func notComparable(why string) Comparison {
	return Comparison{Finding: "not comparable with base: " + sanitize.Line(why)}
}

// differs returns the comparison for failures that are not the same.
func differs(difference string) Comparison {
	return Comparison{Finding: "fails differently on base: " + difference}
}

// maxShown is the length in characters up to which a line of a log is shown.
const maxShown = 200

// describeMissing describes a line of head that base does not have. The line itself is
// shown only if the result shows it anyway: there all secrets are masked.
func describeMissing(r plan.Result, line string) string {
	line = strings.TrimSpace(line)
	if !strings.Contains(r.Tail+"\n"+r.Reason, line) {
		return "a line of the log is missing there"
	}
	line = sanitize.Line(line)
	if runes := []rune(line); len(runes) > maxShown {
		line = string(runes[:maxShown]) + "…"
	}
	return fmt.Sprintf("%q is missing there", line)
}
