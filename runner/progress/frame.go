package progress

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// The width of the bar, in columns.
const (
	maxBarWidth = 40
	minBarWidth = 10
)

// reservedRows is how many rows of the terminal show no task: the row of the bar, the row
// of the cursor, and the row above the redrawn lines. Without the last of them the lines
// would begin at the top of the screen, and from there terminals such as tmux keep lines
// that should be replaced.
const reservedRows = 3

// frame returns the lines to draw on a terminal of this size: a line for each running
// task, if there is room for it, and the bar. The tasks that run longest come first. Each
// line is shorter than the terminal is wide, so that the terminal folds none.
func frame(s *runStatus, columns, rows int) []string {
	width := max(1, columns-1)
	tasks := s.oldestFirst()
	shown := min(len(tasks), max(0, rows-reservedRows))
	if shown > 0 && shown < len(tasks) {
		shown-- // its row says how many tasks are not shown
	}
	nameColumns := 0
	for _, r := range tasks[:shown] {
		nameColumns = max(nameColumns, runewidth.StringWidth(displayName(r.id)))
	}
	var out []string
	for _, r := range tasks[:shown] {
		out = append(out, taskRow(displayName(r.id), s.runningTime(r), nameColumns, width))
	}
	if shown < len(tasks) && rows > reservedRows {
		out = append(out, truncate(fmt.Sprintf("  and %d more", len(tasks)-shown), width))
	}
	return append(out, bar(s, width))
}

// taskRow returns the row of a task: its name, padded to a number of columns, and its
// duration. If the row is too long, the name is truncated; if the name would become too
// short, the duration is left out.
func taskRow(name, duration string, nameColumns, width int) string {
	room := width - runewidth.StringWidth(duration) - 4
	if room < 4 {
		return truncate("  "+name, width)
	}
	nameColumns = min(nameColumns, room)
	return "  " + runewidth.FillRight(truncate(name, nameColumns), nameColumns) + "  " + duration
}

// truncate shortens a text to a width.
func truncate(text string, width int) string { return runewidth.Truncate(text, width, "…") }

// bar returns the line for the whole run: a drawn bar, and counts and times. If there is
// no room for the drawn bar, it is left out; if there is still no room, the rest is truncated.
func bar(s *runStatus, width int) string {
	parts := []string{fmt.Sprintf("%d/%d", s.ended(), s.total), formatDuration(s.elapsed())}
	if s.isStopping {
		parts = append(parts, "stopping")
	}
	for _, part := range []string{s.remainingText(), s.waitingText(), s.failuresText()} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	text := strings.Join(parts, "  ")
	room := min(maxBarWidth, width-runewidth.StringWidth(text)-2)
	if room < minBarWidth {
		return truncate(text, width)
	}
	var drawn strings.Builder
	filler := mpb.BarStyle().Filler("=").Tip(">").Padding(" ").Build()
	err := filler.Fill(&drawn, decor.Statistics{AvailableWidth: room, Total: int64(s.total), Current: int64(s.ended())})
	if err != nil { // a strings.Builder returns no error
		return truncate(text, width)
	}
	return drawn.String() + "  " + text
}
