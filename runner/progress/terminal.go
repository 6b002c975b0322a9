package progress

import (
	"fmt"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/vbauerster/mpb/v8/cwriter"

	"github.com/app-sre/prcheck/plan"
)

// redrawInterval is the time between two redraws.
const redrawInterval = 200 * time.Millisecond

// The size that is assumed of a terminal that does not report its size.
const (
	defaultWidth  = 80
	defaultHeight = 24
)

// A terminalDisplay redraws the last lines of a terminal. Only the method draw writes to
// the terminal, so the display always knows which lines are on the screen.
type terminalDisplay struct {
	out      *cwriter.Writer
	hasColor bool
	log      []string // lines that will stay above the redrawn lines and are not written yet
	drawn    []string // lines on the screen that the next drawing replaces
}

func (d *terminalDisplay) interval() time.Duration { return redrawInterval }

// start writes a line that stays above the redrawn lines, see reservedRows.
func (d *terminalDisplay) start(s *runStatus, _ *plan.Plan) {
	d.log = append(d.log, fmt.Sprintf("running %s, %d at once", countTasks(s.total), min(s.jobs, s.total)))
	d.refresh(s)
}

func (d *terminalDisplay) taskEnded(_ *runStatus, t plan.Task, r *plan.Result) {
	if r.Status == plan.Passed || isUnstarted(r) {
		return // the bar counts it
	}
	d.log = append(d.log, d.paint(red, describeResult(t, r)))
}

func (d *terminalDisplay) stopping(s *runStatus) { d.refresh(s) }

func (d *terminalDisplay) refresh(s *runStatus) {
	width, height, err := d.out.GetTermSize()
	if err != nil || width <= 0 || height <= 0 {
		width, height = defaultWidth, defaultHeight
	}
	d.draw(frame(s, width, height), width)
}

// close removes the redrawn lines. After an interruption a line stays that says how many
// tasks had passed.
func (d *terminalDisplay) close(s *runStatus) {
	if s.isStopping {
		d.log = append(d.log, d.paint(red, "interrupted after "+formatDuration(s.elapsed())+": "+s.summary()))
	}
	d.draw(nil, defaultWidth)
}

// draw writes the lines that stay and then the given lines, in the place of the lines
// that were drawn before. If the terminal became narrower, it has folded the old lines,
// and each of them takes several rows.
func (d *terminalDisplay) draw(lines []string, width int) {
	rows := 0
	for _, line := range d.drawn {
		rows += max(1, (runewidth.StringWidth(line)+width-1)/width)
	}
	d.out.Reset()
	_ = d.out.Flush(rows) // writes nothing: it prepares to move the cursor up by so many rows
	for _, line := range append(d.log, lines...) {
		_, _ = d.out.WriteString(line + "\n")
	}
	_ = d.out.Flush(0)
	d.log, d.drawn = nil, lines
}

const (
	red   = "\x1b[31m"
	reset = "\x1b[0m"
)

func (d *terminalDisplay) paint(color, text string) string {
	if !d.hasColor {
		return text
	}
	return color + text + reset
}
