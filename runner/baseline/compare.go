package baseline

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
)

// A Failure is how a task failed on one side.
type Failure struct {
	Result plan.Result
	Log    string // all that it wrote, masked
	Err    error  // why there is no log, or only a part of it
}

// A Comparison is what a task that failed on head does on base.
type Comparison struct {
	Same bool   // it fails there the same way
	Text string // one line: "passes on base"
	Mark string // stands for this failure on base; "" unless it is the same
}

// Eligible reports whether a failure can be one of base: the task itself failed,
// ran to its end and said so. What the data or the settings are to blame for, what
// ran out of time and what a signal killed stays with the change.
func Eligible(t plan.Task, r plan.Result) bool {
	switch {
	case r.Status != plan.Failed || r.Class != plan.ClassTask && r.Class != plan.ClassTransient:
		return false
	case t.Native:
		return r.ExitCode < 0
	}
	return r.ExitCode > 0 && r.Reason == exitReason(r)
}

// exitReason is the reason of a command that ended with an exit code, and of
// which there is nothing else to say.
func exitReason(r plan.Result) string { return fmt.Sprintf("exit code %d", r.ExitCode) }

// Compare tells whether a task that failed on head fails the same way on base.
// The names stand for the bundles in logs, such as their sha256.
func Compare(t plan.Task, head, base Failure, names ...string) Comparison {
	h, b := head.Result, base.Result
	switch {
	case b.OK():
		return Comparison{Text: "passes on base"}
	case !Eligible(t, h) || !Eligible(t, b):
		return Comparison{Text: unclear(b.Reason)}
	case h.ExitCode != b.ExitCode:
		return Comparison{Text: fmt.Sprintf("fails otherwise on base: exit code %d", b.ExitCode)}
	case h.Class != b.Class:
		return Comparison{Text: fmt.Sprintf("fails otherwise on base: class %s", b.Class)}
	case head.Err != nil:
		return Comparison{Text: unclear("its log cannot be compared: " + head.Err.Error())}
	case base.Err != nil:
		return Comparison{Text: unclear("its log on base cannot be compared: " + base.Err.Error())}
	}
	from, to := newNormal(names), newNormal(names)
	left := map[string]int{}
	there := from.lines(b, base.Log)
	for _, line := range there {
		left[line]++
	}
	here := to.lines(h, head.Log)
	if len(here) == 0 {
		return Comparison{Text: unclear("it does not say why it fails")}
	}
	for i, line := range here {
		if left[line]--; left[line] < 0 {
			return Comparison{Text: otherwise(h, to.raw[i])}
		}
	}
	return Comparison{Same: true, Text: "fails the same way on base", Mark: state.Name(there...)}
}

// unclear is the text of a comparison that says nothing.
func unclear(why string) string { return "not comparable with base: " + sanitize.Line(why) }

// maxShown bounds a line that is shown, in runes.
const maxShown = 200

// otherwise tells which line base does not have. Lines are shown only when the
// result shows them anyway, since there everything is masked.
func otherwise(r plan.Result, line string) string {
	line = strings.TrimSpace(line)
	if !strings.Contains(r.Tail+"\n"+r.Reason, line) {
		return "fails otherwise on base: a line of the log is not there"
	}
	line = sanitize.Line(line)
	if runes := []rune(line); len(runes) > maxShown {
		line = string(runes[:maxShown]) + "…"
	}
	return fmt.Sprintf("fails otherwise on base, without %q", line)
}
