package board

import (
	"fmt"
	"math"
	"strings"
)

// A curve shows how a number changed over weeks. It begins at zero.
type curve struct {
	Title, Label, Latest, Top string
	Points                    string // of a polyline
	Dots                      []dot
	From                      string
}

// A dot is one week of a curve.
type dot struct{ X, Y string }

// The size of a curve.
const (
	curveWidth  = 300
	curveLeft   = 8
	curveBottom = 95
	curveTop    = 5
)

// curves returns the curves of the last weeks.
func curves(all []Week) []curve {
	if len(all) == 0 {
		return nil
	}
	return []curve{
		newCurve("Time to a verdict, the middle one", "min", all, 0, func(w Week) (float64, bool) {
			return w.Verdict / 60, w.Verdict > 0
		}),
		newCurve("Decisions that were skips", "%", all, 100, func(w Week) (float64, bool) {
			return w.Share(), w.Decided > 0
		}),
		newCurve("Tasks that passed after a failure", "", all, 0, func(w Week) (float64, bool) {
			return float64(w.Flaked), w.Runs > 0
		}),
		newCurve("Time of all tasks", "h", all, 0, func(w Week) (float64, bool) { return w.Seconds / 3600, w.Runs > 0 }),
	}
}

// newCurve returns the curve of a number. A week without it is left out.
func newCurve(title, unit string, all []Week, top float64, of func(Week) (float64, bool)) curve {
	out := curve{Title: title, From: all[0].From}
	for _, w := range all {
		if v, ok := of(w); ok {
			top = max(top, v)
		}
	}
	top = max(top, 1)
	out.Top = number(top, unit)
	var values, points []string
	for i, w := range all {
		v, ok := of(w)
		if !ok {
			values = append(values, w.From+" not known")
			continue
		}
		x := float64(curveWidth - curveLeft)
		if n := len(all); n > 1 {
			x = curveLeft + float64(i)*float64(curveWidth-2*curveLeft)/float64(n-1)
		}
		y := curveBottom - v/top*(curveBottom-curveTop)
		at := dot{fmt.Sprintf("%.1f", x), fmt.Sprintf("%.1f", y)}
		points, out.Dots = append(points, at.X+","+at.Y), append(out.Dots, at)
		out.Latest = number(v, unit)
		values = append(values, w.From+" "+number(v, unit))
	}
	if out.Latest == "" {
		out.Latest = "not known"
	}
	out.Points, out.Label = strings.Join(points, " "), title+" by week: "+strings.Join(values, ", ")
	return out
}

// number returns a number with its unit.
func number(v float64, unit string) string {
	text := fmt.Sprintf("%.1f", v)
	if v == math.Trunc(v) || v >= 100 {
		text = fmt.Sprintf("%.0f", v)
	}
	return strings.TrimSpace(text + " " + unit)
}
