package schedule

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// A field is one of the fields: its numbers, and names for them.
type field struct {
	name     string
	from, to int
	names    string // of three letters each, beginning with from
}

// fields are the fields in their order. The last one is optional.
var fields = []field{
	{"minute", 0, 59, ""},
	{"hour", 0, 23, ""},
	{"day of the month", 1, 31, ""},
	{"month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"},
	{"day of the week", 0, 6, "sunmontuewedthufrisat"},
	{"second", 0, 59, ""},
}

// The positions of fields that are special.
const (
	days     = 2
	weekdays = 4
)

// A list is what a field says.
type list struct {
	numbers uint64
	hasLast bool // the last day of the month
	nth     [7]uint64
	lastOf  uint64
	isNth   bool // some weekdays count in some weeks only
}

var (
	spanStep = lazyregexp.New(`^([^-]+)-([^-/]+)(/(.*))?$`)
	inWeek   = lazyregexp.New(`^(?:(\w+|\w+-\w+)#|l)(\d+)$`)
	digits   = lazyregexp.New(`^\d+$`)
)

// errMixed says that some weekdays count in each week and others do not.
var errMixed = fmt.Errorf("mixes weekdays of each week with those of some weeks")

// parse reads a field.
func (f field) parse(word string) (list, error) {
	if strings.Contains(word, "?") {
		if isDay := f.names == fields[weekdays].names || f.name == fields[days].name; word != "?" || !isDay {
			return list{}, fmt.Errorf("may have a question mark alone, as a day")
		}
		word = "*"
	}
	var out list
	var plain uint64 // weekdays of each week
	for part := range strings.SplitSeq(word, ",") {
		week, isLast := 0, false
		if m := inWeek.FindStringSubmatch(part); m != nil && f.name == fields[weekdays].name {
			if part, isLast = m[2], true; m[1] != "" {
				part, isLast = m[1], false
				if week, _ = strconv.Atoi(m[2]); week < 1 || week > 5 {
					return out, fmt.Errorf("has no week from 1 to 5")
				}
			}
		}
		numbers, hasLast, err := f.part(part)
		if err != nil {
			return out, err
		}
		out.numbers, out.hasLast = out.numbers|numbers, out.hasLast || hasLast
		switch {
		case isLast:
			out.lastOf, out.isNth = out.lastOf|numbers, true
		case week > 0:
			for n := range out.nth {
				if numbers&(1<<n) != 0 {
					out.nth[n] |= 1 << week
				}
			}
			out.isNth = true
		default:
			plain |= numbers
		}
	}
	return out, out.checkWeeks(plain)
}

// checkWeeks returns an error if weekdays of each week stand beside others.
func (l list) checkWeeks(plain uint64) error {
	const all = 1<<7 - 1
	if !l.isNth {
		return nil
	}
	for n, weeks := range l.nth {
		if weeks != 0 || l.lastOf&(1<<n) != 0 {
			plain &^= 1 << n
		}
	}
	if plain != 0 && l.numbers != all {
		return errMixed
	}
	return nil
}

// part reads an element of a list: a number, a name, or a range with a step.
func (f field) part(text string) (numbers uint64, hasLast bool, err error) {
	span, step, hasStep := strings.Cut(text, "/")
	m := spanStep.FindStringSubmatch(text)
	isOpen := false // it goes to the end of the field
	switch {
	case span == "*" && hasStep:
		m = spanStep.FindStringSubmatch(fmt.Sprintf("%d-%d/%s", f.from, f.to, step))
	case m == nil && hasStep:
		m, isOpen = spanStep.FindStringSubmatch(fmt.Sprintf("%s-%d/%s", span, f.to, step)), true
	case m == nil && text == "*":
		return f.cycle(1), false, nil
	case m == nil && text == "l" && f.name == fields[days].name:
		return 0, true, nil
	}
	if m == nil {
		n, err := f.number(text)
		if err == nil && (n < f.from || n > f.to) {
			err = f.outside()
		}
		return 1 << max(n, 0), false, err
	}
	by := 1
	if m[3] != "" {
		if by, err = strconv.Atoi(m[4]); err != nil || by < 1 || !digits.MatchString(m[4]) {
			return 0, false, fmt.Errorf("has no step of 1 or more")
		}
	}
	last := m[2]
	if last == "l" && f.name == fields[days].name {
		last = strconv.Itoa(f.to)
	}
	low, err := f.number(m[1])
	if err != nil {
		return 0, false, err
	}
	high, err := f.number(last)
	if err == nil && (low < f.from || max(low, high) > f.to || high < f.from) {
		err = f.outside()
	}
	if err != nil {
		return 0, false, err
	}
	if low == high && isOpen {
		return 1 << low, false, nil
	}
	return f.span(low, high, min(by, f.to+1)), false, nil
}

func (f field) outside() error { return fmt.Errorf("is no number from %d to %d", f.from, f.to) }

// cycle returns the numbers of the whole field, in steps.
func (f field) cycle(by int) (numbers uint64) {
	for n := f.from; n <= f.to; n += by {
		numbers |= 1 << n
	}
	return numbers
}

// span returns the numbers of a range, in steps. Over the end of the field the steps go on as croniter's do.
func (f field) span(low, high, by int) (numbers uint64) {
	if low == high {
		return f.cycle(by)
	}
	end, last := high, low
	if low > high {
		end = f.to
	}
	for n := low; n <= end; n += by {
		numbers |= 1 << n
		last = n
	}
	if low < high {
		return numbers
	}
	skip, left := 0, f.to-last
	if last-f.from+by > f.to-f.from+1 && left < by {
		skip = by - left
	}
	for n := f.from + skip; n <= high; n += by {
		numbers |= 1 << n
	}
	return numbers
}

// number reads a number or a name. 7 is Sunday, as 0.
func (f field) number(text string) (int, error) {
	if i := strings.Index(f.names, text); len(text) == 3 && i >= 0 && i%3 == 0 {
		return f.from + i/3, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || !digits.MatchString(text) {
		return 0, f.outside()
	}
	if n == 7 && f.name == fields[weekdays].name {
		n = 0
	}
	return n, nil
}
