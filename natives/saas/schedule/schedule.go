package schedule

import (
	"fmt"
	"math/bits"
	"strings"
	"time"
)

// A Schedule is the times that match five fields, or six with seconds. The zero value matches no time. In a set
// of bits, bit n is the number n.
type Schedule struct {
	minute, hour, day, month, weekday, second uint64

	hasSeconds  bool
	isLastDay   bool      // the last day of the month is a day of the schedule
	nth         [7]uint64 // by weekday: in which weeks of the month it counts; 0: in all
	lastOf      uint64    // weekdays that count in the last week of the month
	hasWeekdays bool      // nth and lastOf say all about weekdays
}

// Always is the schedule that all minutes match.
const Always = "* * * * *"

var aliases = map[string]string{
	"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
	"@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}

// maxText is the length of the longest schedule, in bytes.
const maxText = 1000

// Parse reads a schedule as croniter does. Fields are *, numbers, names such as mon, ranges a-b, steps after a
// slash, and lists of these; l is the last day of the month, fri#2 the second Friday and l5 the last one. A range
// may begin above its end, as fri-mon; one whose ends are the same is the whole cycle. A sixth field is seconds.
func Parse(text string) (Schedule, error) {
	if len(text) > maxText {
		return Schedule{}, fmt.Errorf("the schedule is longer than %d bytes", maxText)
	}
	whole := strings.ToLower(text)
	if a, ok := aliases[whole]; ok {
		whole = a
	}
	words := strings.Fields(whole)
	if len(words) != len(fields) && len(words) != len(fields)-1 {
		return Schedule{}, fmt.Errorf("%.40q is no schedule of five fields, such as 0 9 * * 1", text)
	}
	s := Schedule{hasSeconds: len(words) == len(fields)}
	for i, to := range []*uint64{&s.minute, &s.hour, &s.day, &s.month, &s.weekday, &s.second} {
		if i == len(words) {
			break
		}
		f := fields[i]
		list, err := f.parse(words[i])
		if err != nil {
			return Schedule{}, fmt.Errorf("%.40q is no schedule: the %s %.20q %w", text, f.name, words[i], err)
		}
		*to, s.isLastDay = list.numbers, s.isLastDay || list.hasLast
		if i == weekdays {
			s.nth, s.lastOf, s.hasWeekdays = list.nth, list.lastOf, list.isNth
		}
	}
	return s, nil
}

// Matches reports whether a time is within a minute of the schedule, or is a second of it if it has seconds.
func (s Schedule) Matches(at time.Time) bool {
	at = at.UTC()
	return s.matchesDay(at) && s.hour&(1<<at.Hour()) != 0 && s.minute&(1<<at.Minute()) != 0 &&
		(!s.hasSeconds || s.second&(1<<at.Second()) != 0)
}

func (s Schedule) matchesDay(at time.Time) bool {
	isDay := s.day&(1<<at.Day()) != 0 || s.isLastDay && at.AddDate(0, 0, 1).Day() == 1
	return isDay && s.month&(1<<int(at.Month())) != 0 && s.matchesWeekday(at)
}

// matchesWeekday reports whether the weekday counts in the week of the month.
func (s Schedule) matchesWeekday(at time.Time) bool {
	day := int(at.Weekday())
	if !s.hasWeekdays {
		return s.weekday&(1<<day) != 0
	}
	week := (at.Day()-1)/7 + 1
	isLast := at.AddDate(0, 0, 7).Month() != at.Month()
	return s.nth[day]&(1<<week) != 0 || isLast && s.lastOf&(1<<day) != 0
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
					return at.Add(time.Duration(s.firstSecond()) * time.Second)
				}
			}
		}
		day = day.AddDate(0, 0, 1)
	}
	return time.Time{}
}

// firstSecond returns the first second of a minute of the schedule.
func (s Schedule) firstSecond() int {
	if !s.hasSeconds {
		return 0
	}
	return bits.TrailingZeros64(s.second)
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
