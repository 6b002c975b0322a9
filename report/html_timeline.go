package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// Sizes and bounds of the timeline.
const (
	maxLanes    = 64  // lanes that are drawn
	maxLongest  = 20  // tasks in the list of the longest
	waitBuckets = 120 // parts of the run for which waiting tasks are counted
	laneHeight  = 16  // pixels
)

// A timeline is the run over time: lanes of tasks, and how many tasks waited.
type timeline struct {
	Total        string // the duration of the run
	Height       int    // of all lanes, in pixels
	Lanes        []lane
	Bars         []bar
	Ticks        []tick
	Waiting      []bar // one per part of the run in which tasks waited
	MaxWaiting   int
	Dense        bool // there are too many bars to outline them
	Longest      []timing
	Unknown      int // tasks that ran at an unknown time
	Hidden       int // tasks for which there was no lane
	Retried      int // tasks with several attempts
	MeanWait     string
	LongestWait  string
	LongestWaits string // the task that waited longest
}

// A lane is a row of the timeline, in which tasks ran one after the other.
type lane struct {
	Number, Y, Tasks int
	Busy, Share      string
	busy             float64
}

// A bar is a rectangle. X and W are in percent of the width.
type bar struct {
	X, W               string
	Y, Height          int
	Class, Title, Href string
}

// A tick is one label of the time axis.
type tick struct{ X, Label, Anchor string }

// A timing is one task in the list of the longest.
type timing struct {
	Task                          value
	Lane                          int
	Started, Waited, Took, Result string
}

// An interval is a task with the time from its first start to its last end, in
// seconds since the run began.
type interval struct {
	TaskResult
	from, to float64
	lane     int // -1 if there is none
}

// newTimeline returns the timeline of a report, or nil if it is not known of any
// task when it ran.
func newTimeline(rep *Report) *timeline {
	var ran []interval
	t := &timeline{}
	for _, r := range rep.Results {
		switch {
		case hasKnownTimes(r):
			ran = append(ran, interval{r, r.Spans[0].Started, r.Spans[len(r.Spans)-1].End(), 0})
		case r.Attempts > 0:
			t.Unknown++
		}
	}
	if len(ran) == 0 {
		return nil
	}
	slices.SortStableFunc(ran, func(a, b interval) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	total := 0.001
	for _, r := range ran {
		total = max(total, r.to)
	}
	t.Total, t.Ticks = formatSeconds(total), newTicks(total)
	t.assignLanes(ran, total)
	for _, r := range ran {
		t.drawTask(r, total)
	}
	const dense = 200
	t.Dense = len(t.Bars) > dense
	t.countWaiting(ran, total)
	t.listLongest(ran)
	return t
}

// hasKnownTimes reports whether it is known when a task ran, with times that can
// be drawn.
func hasKnownTimes(t TaskResult) bool {
	const most = 1e7 // a hundred days
	outside := func(s float64) bool { return !(s >= 0 && s <= most) }
	return len(t.Spans) > 0 && !outside(t.Waited) &&
		!slices.ContainsFunc(t.Spans, func(s plan.Span) bool { return outside(s.Started) || outside(s.Seconds) })
}

// assignLanes gives each task the first lane that is free. The tasks are sorted by
// their start, so this takes only as many lanes as tasks ran at the same time
// (interval partitioning).
func (t *timeline) assignLanes(ran []interval, total float64) {
	const slack = 0.002 // times are rounded to the millisecond
	var free []float64
	for i := range ran {
		r := &ran[i]
		r.lane = slices.IndexFunc(free, func(end float64) bool { return end <= r.from+slack })
		if r.lane < 0 && len(free) == maxLanes {
			t.Hidden++
			continue
		}
		if r.lane < 0 {
			r.lane = len(free)
			free = append(free, 0)
			t.Lanes = append(t.Lanes, lane{Number: len(free), Y: len(free)*laneHeight - 4})
		}
		free[r.lane] = r.to
		l := &t.Lanes[r.lane]
		l.Tasks++
		for _, s := range r.Spans {
			l.busy += s.Seconds
		}
		l.Busy, l.Share = formatSeconds(l.busy), fmt.Sprintf("%.0f%%", min(100, 100*l.busy/total))
	}
	t.Height = len(t.Lanes) * laneHeight
}

// drawTask adds the bars of one task: one per attempt, and behind several attempts
// one for the whole time.
func (t *timeline) drawTask(r interval, total float64) {
	if r.lane < 0 {
		return
	}
	box := func(from, long float64, class string) bar {
		x := 100 * from / total
		w := min(max(100*long/total, 0.12), 100-min(x, 99.8))
		return bar{formatPercent(x), formatPercent(w), r.lane*laneHeight + 2, laneHeight - 4, class, "",
			"#" + anchor(r.Integration)}
	}
	title := fmt.Sprintf("%s: %s, %s after a wait of %s", visibleText(r.Task), describeResult(r.TaskResult),
		formatSeconds(r.Seconds), formatSeconds(r.Waited))
	if len(r.Spans) > 1 {
		t.Retried++
		title += fmt.Sprintf(", %s", phrase.Count(len(r.Spans), "attempt"))
		whole := box(r.from, r.to-r.from, "pause")
		whole.Title = title
		t.Bars = append(t.Bars, whole)
	}
	for i, s := range r.Spans {
		kind := cssClass(outcome(r.TaskResult))
		if i < len(r.Spans)-1 {
			kind = "retried"
		}
		b := box(s.Started, s.Seconds, kind)
		b.Title = title
		t.Bars = append(t.Bars, b)
	}
}

// countWaiting adds bars for the number of tasks that were waiting for a slot at
// the beginning of each part of the run.
func (t *timeline) countWaiting(ran []interval, total float64) {
	var count [waitBuckets + 1]int
	sum, longest := 0.0, interval{}
	for _, r := range ran {
		sum += r.Waited
		if r.Waited > longest.Waited {
			longest = r
		}
		from := int(math.Ceil(waitBuckets * max(0, r.from-r.Waited) / total))
		for i := from; i < waitBuckets && float64(i) < waitBuckets*r.from/total; i++ {
			count[i]++
		}
	}
	t.MeanWait, t.LongestWait, t.LongestWaits = formatSeconds(sum/float64(len(ran))), formatSeconds(longest.Waited),
		cleanLine(longest.Task)
	t.MaxWaiting = slices.Max(count[:])
	for i, n := range count {
		if n == 0 {
			continue
		}
		const height = 24
		h := max(1, height*n/t.MaxWaiting)
		t.Waiting = append(t.Waiting, bar{X: formatPercent(100 * float64(i) / waitBuckets),
			W: formatPercent(100.0/waitBuckets + 0.1), Y: height - h, Height: h})
	}
}

// listLongest adds the tasks that took longest.
func (t *timeline) listLongest(ran []interval) {
	byTime := slices.Clone(ran)
	slices.SortStableFunc(byTime, func(a, b interval) int { return cmp.Compare(b.Seconds, a.Seconds) })
	for _, r := range byTime[:min(len(byTime), maxLongest)] {
		t.Longest = append(t.Longest, timing{
			Task: value{Text: visibleText(r.Task), Href: "#" + anchor(r.Integration)}, Lane: r.lane + 1,
			Started: "+" + formatSeconds(r.from), Waited: formatSeconds(r.Waited), Took: formatSeconds(r.Seconds),
			Result: describeResult(r.TaskResult),
		})
	}
}

// tickSteps are the round distances that two ticks may have, in seconds.
var tickSteps = []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200,
	1800, 3600, 7200, 14400}

// newTicks returns labels at round times of the time axis, at most nine.
func newTicks(total float64) []tick {
	step := tickSteps[0]
	for i := 1; total/step > 8; i++ {
		if i < len(tickSteps) {
			step = tickSteps[i]
		} else {
			step *= 2
		}
	}
	var out []tick
	for at := 0.0; at <= total && len(out) < 10; at += step {
		t := tick{formatPercent(100 * at / total), formatTick(at), "middle"}
		switch {
		case at == 0:
			t.Anchor = "start"
		case at > 0.96*total:
			t.Anchor = "end"
		}
		out = append(out, t)
	}
	return out
}

// formatTick returns a time of the time axis in few characters.
func formatTick(s float64) string {
	switch whole := int(s + 0.5); {
	case s < 10:
		return fmt.Sprintf("%gs", math.Round(s*1000)/1000)
	case whole < 60:
		return fmt.Sprintf("%ds", whole)
	case whole%60 == 0 && whole < 3600:
		return fmt.Sprintf("%dm", whole/60)
	case whole < 3600:
		return fmt.Sprintf("%dm%02ds", whole/60, whole%60)
	default:
		return fmt.Sprintf("%dh%02dm", whole/3600, whole%3600/60)
	}
}
