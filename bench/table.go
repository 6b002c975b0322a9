//go:build unix

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// A line is one row of the table.
type line struct {
	path     string
	measured float64
	unit     string // "s", "ms", "µs" or "MB"
	peers    []peer
	ratioTo  string  // the peer that the ratio is of; "" for none
	budget   float64 // of the ratio, or of what is measured without one; 0 for none
	note     string
	absent   string // why there is nothing to measure; such a line is missed
}

// A peer is a program beside ours. Its time is 0 if it is not installed.
type peer struct {
	name    string
	seconds float64
}

// ratio returns what was measured divided by the peer, 0 if there is no peer.
func (l line) ratio() float64 {
	for _, p := range l.peers {
		if p.name == l.ratioTo && p.seconds > 0 {
			return l.measured / p.seconds
		}
	}
	return 0
}

// verdict says whether the budget is met.
func (l line) verdict() string {
	if l.absent != "" {
		return "missed: " + l.absent
	}
	if l.measured == 0 {
		return "not known"
	}
	value := l.measured
	if l.ratioTo != "" {
		if value = l.ratio(); value == 0 {
			return "not known"
		}
	}
	switch {
	case l.budget == 0:
		return ""
	case value <= l.budget:
		return "met"
	}
	return "missed"
}

// cells returns the columns of the line.
func (l line) cells() []string {
	var beside []string
	for _, p := range l.peers {
		if p.seconds == 0 {
			beside = append(beside, p.name+" not installed")
			continue
		}
		beside = append(beside, fmt.Sprintf("%s %s", p.name, number(p.seconds)))
	}
	ratio, asked := "", ""
	if r := l.ratio(); r > 0 {
		ratio = fmt.Sprintf("%.1f × %s", r, l.ratioTo)
	}
	switch {
	case l.budget > 0 && l.ratioTo != "":
		asked = fmt.Sprintf("≤ %s × %s", number(l.budget), l.ratioTo)
	case l.budget > 0:
		asked = fmt.Sprintf("≤ %s %s", number(l.budget), l.unit)
	}
	measured := ""
	if l.measured > 0 {
		measured = number(l.measured) + " " + l.unit
	}
	return []string{l.path, measured, strings.Join(beside, ", "), ratio, asked,
		strings.TrimSpace(l.verdict() + " " + l.note)}
}

// number returns a number with two or three significant digits.
func number(v float64) string { return fmt.Sprintf("%.3g", v) }

// writeTable writes lines as a table.
func writeTable(out io.Writer, lines []line) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, strings.Join([]string{"path", "measured", "beside", "ratio", "asked", ""}, "\t"))
	for _, l := range lines {
		_, _ = fmt.Fprintln(w, strings.Join(l.cells(), "\t")) // the error is that of Flush
	}
	return w.Flush()
}
