package progress

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// The bar.
const (
	widestBar    = 40
	narrowestBar = 10
)

// apart is how many rows are not for tasks: one for the bar, one for the cursor,
// and one above. Without that one the lines would begin at the top, and there
// terminals such as tmux keep what is drawn over.
const apart = 3

// frame returns the lines to draw on a terminal of that many columns and rows:
// one for each running task, those that run for longest and as many as there is
// room for, and the bar. None is as wide as the terminal, so that none is folded.
func frame(v *view, columns, rows int) []string {
	width := max(1, columns-1)
	list := v.oldest()
	shown := min(len(list), max(0, rows-apart))
	if shown > 0 && shown < len(list) {
		shown-- // for the number of the others
	}
	longest := 0
	for _, r := range list[:shown] {
		longest = max(longest, runewidth.StringWidth(name(r.id)))
	}
	var out []string
	for _, r := range list[:shown] {
		out = append(out, row(name(r.id), v.times(r), longest, width))
	}
	if shown < len(list) && rows > apart {
		out = append(out, fit(fmt.Sprintf("  and %d more", len(list)-shown), width))
	}
	return append(out, bar(v, width))
}

// row puts the name of a task beside its times, with so many columns for the
// name. Where there is too little room the name is shortened, and at last the
// times are left out.
func row(name, times string, columns, width int) string {
	room := width - runewidth.StringWidth(times) - 4
	if room < 4 {
		return fit("  "+name, width)
	}
	columns = min(columns, room)
	return "  " + runewidth.FillRight(fit(name, columns), columns) + "  " + times
}

// fit shortens a text to a width.
func fit(text string, width int) string { return runewidth.Truncate(text, width, "…") }

// bar is the line for the whole. Where there is little room, it has no drawn bar,
// and then its end is cut off.
func bar(v *view, width int) string {
	parts := []string{fmt.Sprintf("%d/%d", v.done(), v.total), short(v.elapsed())}
	if v.stopping {
		parts = append(parts, "stopping")
	}
	if left := v.left(); left != "" {
		parts = append(parts, left)
	}
	if queues := v.queues(); queues != "" {
		parts = append(parts, queues)
	}
	if bad := v.bad(); bad != "" {
		parts = append(parts, bad)
	}
	text := strings.Join(parts, "  ")
	room := min(widestBar, width-runewidth.StringWidth(text)-2)
	if room < narrowestBar {
		return fit(text, width)
	}
	var drawn strings.Builder
	filler := mpb.BarStyle().Filler("=").Tip(">").Padding(" ").Build()
	err := filler.Fill(&drawn, decor.Statistics{AvailableWidth: room, Total: int64(v.total), Current: int64(v.done())})
	if err != nil { // of a builder there is none
		return fit(text, width)
	}
	return drawn.String() + "  " + text
}
