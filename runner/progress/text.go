package progress

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
)

// maxListed is how many running tasks, or live targets, one line names.
const maxListed = 5

// runningText names the running tasks with their durations: "a 12s, b 3s, and 2 more".
func (s *runStatus) runningText() string {
	var parts []string
	for i, r := range s.oldestFirst() {
		if i == maxListed {
			parts = append(parts, fmt.Sprintf("and %d more", len(s.running)-maxListed))
			break
		}
		parts = append(parts, displayName(r.id)+" "+s.runningTime(r))
	}
	return strings.Join(parts, ", ")
}

// runningTime says how long a task has been running, with its estimate: "30s of ~1m00s".
func (s *runStatus) runningTime(r runningTask) string {
	text := formatDuration(s.now.Sub(r.began))
	if r.estimate > 0 {
		text += " of ~" + formatDuration(max(time.Second, r.estimate))
	}
	return text
}

// forecastText says how long a run will take: "12 tasks, about 2m50s, nine times of ten within 4m10s".
func forecastText(tasks int, f plan.Forecast) string {
	text := fmt.Sprintf("%s, about %s", countTasks(tasks), roughly(f.P50))
	if within := roughly(f.P90); within != roughly(f.P50) {
		text += ", nine times of ten within " + within
	}
	if f.Unknown > 0 {
		text += fmt.Sprintf(" (of %d nobody knows how long they take)", f.Unknown)
	}
	return text
}

// roughly returns seconds as text, at least one second.
func roughly(seconds float64) string {
	return formatDuration(time.Duration(math.Max(1, seconds) * float64(time.Second)))
}

// remainingText says how long the rest of the run takes, "" if that is unknown.
func (s *runStatus) remainingText() string {
	remaining := s.remaining()
	if remaining == 0 {
		return ""
	}
	return "about " + formatDuration(max(time.Second, remaining)) + " left"
}

// summary says how many tasks passed and how many did not.
func (s *runStatus) summary() string {
	text := fmt.Sprintf("%d of %s passed", s.counts[plan.Passed], countTasks(s.total))
	if failures := s.failuresText(); failures != "" {
		text += ", " + failures
	}
	return text
}

// failuresText counts the tasks that did not pass: "1 failed, 2 canceled". It is "" if
// there are none.
func (s *runStatus) failuresText() string {
	var parts []string
	for _, status := range []plan.Status{plan.Failed, plan.TimedOut, plan.Canceled, plan.NotRun} {
		if n := s.counts[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, statusText(status)))
		}
	}
	return strings.Join(parts, ", ")
}

// waitingText counts the tasks that wait for live targets: "waiting: 3 for aws/app-sre".
// It is "" if no task waits.
func (s *runStatus) waitingText() string {
	count := map[string]int{}
	for _, target := range s.waiting {
		count[target]++
	}
	targets := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(count[b]-count[a], strings.Compare(a, b))
	})
	var parts []string
	for i, target := range targets {
		if i == maxListed {
			parts = append(parts, fmt.Sprintf("and for %d more", len(targets)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%d for %s", count[target], displayName(target)))
	}
	if len(parts) == 0 {
		return ""
	}
	return "waiting: " + strings.Join(parts, ", ")
}

// describeResult says how a task ended: "failed ldap in 8.0s: exit code 3".
func describeResult(t plan.Task, r *plan.Result) string {
	text := fmt.Sprintf("%s %s", statusText(r.Status), displayName(t.ID))
	if r.Attempts > 0 {
		text += " in " + formatSeconds(durationOf(r))
	}
	if r.Reason != "" && r.Reason != statusText(r.Status) {
		text += ": " + sanitize.Line(r.Reason)
	}
	return text
}

// statusText returns a status in words: "timed out".
func statusText(s plan.Status) string { return strings.ReplaceAll(string(s), "_", " ") }

// countTasks returns a number of tasks in words: "1 task", "2 tasks".
func countTasks(n int) string {
	if n == 1 {
		return "1 task"
	}
	return fmt.Sprintf("%d tasks", n)
}

// maxName is the length in characters up to which a name is shown.
const maxName = 120

// displayName returns the name of a task or target, sanitized and shortened.
func displayName(id string) string {
	id = sanitize.Line(id)
	if r := []rune(id); len(r) > maxName {
		id = string(r[:maxName-1]) + "…"
	}
	return id
}

// formatSeconds formats a duration with tenths of a second if it is shorter than a
// minute: 4.1s, 2m03s.
func formatSeconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return formatDuration(d)
}

// formatDuration formats a duration in whole seconds: 12s, 2m03s, 1h02m.
func formatDuration(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	return fmt.Sprintf("%dh%02dm", s/3600, s%3600/60)
}
