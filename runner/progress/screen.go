package progress

import (
	"fmt"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/vbauerster/mpb/v8/cwriter"

	"github.com/app-sre/prcheck/plan"
)

// refresh is the time between two drawings.
const refresh = 200 * time.Millisecond

// The size of a terminal that does not tell its own.
const (
	usualWidth  = 80
	usualHeight = 24
)

// A screen redraws the last lines of a terminal. Everything is written by draw,
// so that the lines on the screen are always the ones that it knows.
type screen struct {
	to    *cwriter.Writer
	color bool
	said  []string // lines that stay, not written yet
	drawn []string // lines on the screen, to be drawn over
}

func (s *screen) every() time.Duration { return refresh }

// begin leaves a line above those that are redrawn, see apart.
func (s *screen) begin(v *view, _ *plan.Plan) {
	s.said = append(s.said, fmt.Sprintf("running %s, %d at once", tasks(v.total), min(v.jobs, v.total)))
	s.tick(v)
}

func (s *screen) ended(_ *view, t plan.Task, r *plan.Result) {
	if r.Status == plan.Passed || unstarted(r) {
		return // the bar counts it
	}
	s.said = append(s.said, s.paint(red, sentence(t, r)))
}

func (s *screen) stopping(v *view) { s.tick(v) }

func (s *screen) tick(v *view) {
	width, height, err := s.to.GetTermSize()
	if err != nil || width <= 0 || height <= 0 {
		width, height = usualWidth, usualHeight
	}
	s.draw(frame(v, width, height), width)
}

// close takes the lines away. A run that was interrupted leaves one that tells
// how far it came.
func (s *screen) close(v *view) {
	if v.stopping {
		s.said = append(s.said, s.paint(red, "interrupted after "+short(v.elapsed())+": "+v.summary()))
	}
	s.draw(nil, usualWidth)
}

// draw writes what stays and then the lines, over those that were drawn before.
// A terminal that became narrower has folded those, and each takes several rows.
func (s *screen) draw(lines []string, width int) {
	rows := 0
	for _, line := range s.drawn {
		rows += max(1, (runewidth.StringWidth(line)+width-1)/width)
	}
	s.to.Reset()
	_ = s.to.Flush(rows) // writes nothing yet; puts the way up in front
	for _, line := range append(s.said, lines...) {
		_, _ = s.to.WriteString(line + "\n")
	}
	_ = s.to.Flush(0)
	s.said, s.drawn = nil, lines
}

const (
	red   = "\x1b[31m"
	reset = "\x1b[0m"
)

func (s *screen) paint(color, text string) string {
	if !s.color {
		return text
	}
	return color + text + reset
}
