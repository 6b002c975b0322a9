package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Schedule is the minutes that match five fields. The zero value matches no minute.
type Schedule struct{ minute, hour, day, month, weekday uint64 } // bit n is the number n

// Always is the schedule that all minutes match.
const Always = "* * * * *"

// A field is one of the five: its numbers, and names for them.
type field struct {
	name     string
	from, to int
	names    string // of three letters each, beginning with from
}

var fields = []field{
	{"minute", 0, 59, ""},
	{"hour", 0, 23, ""},
	{"day of the month", 1, 31, ""},
	{"month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"},
	{"day of the week", 0, 7, "sunmontuewedthufrisat"},
}

var aliases = map[string]string{
	"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
	"@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}

// maxText is the length of the longest schedule, in bytes.
const maxText = 1000

// Parse reads a schedule. Fields are *, numbers, names such as mon, ranges a-b, steps after a
// slash, and lists of these. A range may begin above its end: fri-mon.
func Parse(text string) (Schedule, error) {
	var s Schedule
	if len(text) > maxText {
		return s, fmt.Errorf("the schedule is longer than %d bytes", maxText)
	}
	whole := text
	if a, ok := aliases[strings.ToLower(text)]; ok {
		whole = a
	}
	words := strings.Fields(whole)
	if len(words) != len(fields) {
		return s, fmt.Errorf("%.40q is no schedule of five fields, such as 0 9 * * 1", text)
	}
	for i, to := range []*uint64{&s.minute, &s.hour, &s.day, &s.month, &s.weekday} {
		for part := range strings.SplitSeq(strings.ToLower(words[i]), ",") {
			bits, err := fields[i].parse(part)
			if err != nil {
				return Schedule{}, fmt.Errorf("%.40q is no schedule: the %s %.20q %w", text, fields[i].name, part, err)
			}
			*to |= bits
		}
	}
	if s.weekday&(1<<7) != 0 {
		s.weekday |= 1 // 7 is Sunday, as 0
	}
	return s, nil
}

// parse reads one element of a list.
func (f field) parse(part string) (uint64, error) {
	span, stepText, hasStep := strings.Cut(part, "/")
	step := 1
	if hasStep {
		n, err := strconv.Atoi(stepText)
		if err != nil || n < 1 || n > f.to {
			return 0, fmt.Errorf("has no step from 1 to %d", f.to)
		}
		step = n
	}
	from, to := f.from, f.to
	if f.names != "" && f.from == 0 {
		to = 6 // * does not count Sunday twice
	}
	if span != "*" && span != "?" {
		first, last, isRange := strings.Cut(span, "-")
		var err error
		if from, err = f.number(first); err != nil {
			return 0, err
		}
		switch {
		case isRange:
			if to, err = f.number(last); err != nil {
				return 0, err
			}
		case !hasStep:
			to = from
		}
	}
	if from > to { // over the end
		length := f.to - f.from + 1
		if f.to == 7 {
			length = 7
		}
		to += length
	}
	var bits uint64
	for n := from; n <= to; n += step {
		at := n
		if n > f.to {
			at = n - (f.to - f.from + 1)
			if f.to == 7 {
				at = n - 7
			}
		}
		bits |= 1 << at
	}
	return bits, nil
}

// number reads a number or a name.
func (f field) number(text string) (int, error) {
	if i := strings.Index(f.names, text); len(text) == 3 && i >= 0 && i%3 == 0 {
		return f.from + i/3, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < f.from || n > f.to || text[0] == '+' || text[0] == '-' {
		return 0, fmt.Errorf("is no number from %d to %d", f.from, f.to)
	}
	return n, nil
}

// Matches reports whether a time is within a minute of the schedule.
func (s Schedule) Matches(at time.Time) bool {
	at = at.UTC()
	return s.matchesDay(at) && s.hour&(1<<at.Hour()) != 0 && s.minute&(1<<at.Minute()) != 0
}

func (s Schedule) matchesDay(at time.Time) bool {
	return s.month&(1<<int(at.Month())) != 0 && s.day&(1<<at.Day()) != 0 && s.weekday&(1<<int(at.Weekday())) != 0
}

// horizon is how many days Next looks ahead. After 40 years February 29 was every day of the week.
const horizon = 41 * 366

// Next returns the first minute of the schedule that begins after a time, or a zero time if there
// is none, such as for February 30.
func (s Schedule) Next(after time.Time) time.Time {
	begin := after.UTC().Truncate(time.Minute).Add(time.Minute)
	day := time.Date(begin.Year(), begin.Month(), begin.Day(), 0, 0, 0, 0, time.UTC)
	for range horizon {
		if s.matchesDay(day) {
			for minute := range 24 * 60 {
				at := day.Add(time.Duration(minute) * time.Minute)
				if !at.Before(begin) && s.hour&(1<<(minute/60)) != 0 && s.minute&(1<<(minute%60)) != 0 {
					return at
				}
			}
		}
		day = day.AddDate(0, 0, 1)
	}
	return time.Time{}
}

// MaxGap is how far back a window is looked for if the last look was longer ago: what was missed
// for longer is not made up for.
const MaxGap = 15 * time.Minute

// Window reports whether a minute of the schedule began since the last look, at most maxGap ago,
// or is now. If not, it returns when the next one begins.
func (s Schedule) Window(now, last time.Time, maxGap time.Duration) (open bool, next time.Time) {
	since := now.Add(-maxGap).Truncate(time.Minute).Add(-1) // the minute in which the gap begins counts
	if last.After(since) {
		since = last
	}
	first := s.Next(since)
	if s.Matches(now) || !first.IsZero() && !first.After(now) {
		return true, time.Time{}
	}
	return false, s.Next(now)
}
