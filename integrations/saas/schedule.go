package saas

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Schedule is a time table with the five fields of crontab. Unlike there, both the day of month
// and the day of week must match, as qontract-reconcile does it.
type Schedule struct{ minutes, hours, days, months, weekdays uint64 } // a bit for each number

// scheduleFields are the fields of a schedule, with the smallest and the largest number.
var scheduleFields = []struct {
	name     string
	min, max int
	words    string // names for the numbers from min on
}{
	{"minute", 0, 59, ""},
	{"hour", 0, 23, ""},
	{"day of month", 1, 31, ""},
	{"month", 1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"},
	{"day of week", 0, 7, "sun mon tue wed thu fri sat"},
}

// ParseSchedule reads a schedule such as "0 9 * * 1-5".
func ParseSchedule(text string) (Schedule, error) {
	words := strings.Fields(text)
	if len(words) != len(scheduleFields) {
		return Schedule{}, fmt.Errorf("%.60q is no schedule: it must have %d fields, such as 0 9 * * 1", text, len(scheduleFields))
	}
	var bits [5]uint64
	for i, word := range words {
		for part := range strings.SplitSeq(word, ",") {
			b, ok := parsePart(part, i)
			if !ok {
				return Schedule{}, fmt.Errorf("%.60q is no schedule: the %s %.20q must be *, a number from %d to %d, a range such as 2-4, or one with a step such as */2",
					text, scheduleFields[i].name, part, scheduleFields[i].min, scheduleFields[i].max)
			}
			bits[i] |= b
		}
	}
	if bits[4]&(1<<7) != 0 {
		bits[4] |= 1 // Sunday is 0 and 7
	}
	return Schedule{bits[0], bits[1], bits[2], bits[3], bits[4]}, nil
}

// parsePart reads one part of a field: *, a number, a range, each with or without a step.
func parsePart(part string, at int) (uint64, bool) {
	field := scheduleFields[at]
	span, step, hasStep := strings.Cut(part, "/")
	by := 1
	if hasStep {
		n, err := strconv.Atoi(step)
		if err != nil || n < 1 || n > field.max {
			return 0, false
		}
		by = n
	}
	from, to := field.min, field.max
	if span != "*" {
		low, high, isRange := strings.Cut(span, "-")
		var ok bool
		if from, ok = parseNumber(low, at); !ok {
			return 0, false
		}
		switch {
		case isRange:
			if to, ok = parseNumber(high, at); !ok || to < from {
				return 0, false
			}
		case !hasStep:
			to = from
		}
	}
	var bits uint64
	for n := from; n <= to; n += by {
		bits |= 1 << n
	}
	return bits, true
}

// parseNumber reads a number of a field, or the name of one.
func parseNumber(text string, at int) (int, bool) {
	field := scheduleFields[at]
	for i, word := range strings.Fields(field.words) {
		if strings.EqualFold(word, text) {
			return field.min + i, true
		}
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && strings.Trim(text, "0123456789") == "" && n >= field.min && n <= field.max
}

// Matches reports whether the schedule names the minute of a time, in the zone of the time.
func (s Schedule) Matches(t time.Time) bool {
	has := func(bits uint64, n int) bool { return bits&(1<<n) != 0 }
	return has(s.minutes, t.Minute()) && has(s.hours, t.Hour()) && has(s.days, t.Day()) && has(s.months, int(t.Month())) &&
		has(s.weekdays, int(t.Weekday()))
}

// Opens reports whether there is any minute that the schedule names. February 31 is none.
func (s Schedule) Opens() bool {
	longest := [13]int{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
	for month := 1; month <= 12; month++ {
		days := s.days & (1<<(longest[month]+1) - 1)
		if s.months&(1<<month) != 0 && days != 0 {
			return true // each date falls on every day of the week in some year
		}
	}
	return false
}
