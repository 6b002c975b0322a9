package peers

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/shared"
)

// Schedules match the moments of croniter. The version that is asked here has other rules than that of the recorded
// answers for ranges over the end of a field, of one number and with names; so they are not made.
func TestLiveSchedules(t *testing.T) {
	shared.Ask(t, shared.Live{Name: "schedules", Peer: "croniter 1.3.5", Cases: 500,
		Command: []string{"python3", "testdata/croniter_judge.py"}, Same: matchesSame,
		Input: func(r *rand.Rand) any {
			m := maker{r}
			text := m.schedule()
			if m.isOften(10) {
				text = m.mutated(text, "0123456789*/,l#?x ")
			}
			return map[string]any{"schedule": text, "moments": m.moments()}
		}})
}

// moments returns moments of some years, at the full hour and beside it.
func (m maker) moments() (out []int64) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	for range 12 {
		at := start + int64(m.IntN(5*365*24))*3600
		if m.isOften(70) {
			at += int64(m.IntN(3600))
		}
		out = append(out, at)
	}
	return out
}

func (m maker) schedule() string {
	field := func(from, to int, names ...string) string {
		if m.isOften(45) {
			return "*"
		}
		return m.some(1, 3, ",", func() string { return m.scheduleItem(from, to, names) })
	}
	return fmt.Sprintf("%s %s %s %s %s", field(0, 59), field(0, 23), m.orLast(field(1, 31)),
		field(1, 12, "jan", "feb", "mar",
			"oct", "DEC"),
		field(0, 6, "sun", "mon", "tue", "sat", "Fri"))
}

// orLast returns the field of a day of the month, or the last day.
func (m maker) orLast(field string) string {
	if m.isOften(5) {
		return "l"
	}
	return field
}

func (m maker) scheduleItem(from, to int, names []string) string {
	a, b := from+m.IntN(to-from), from+m.IntN(to-from)
	low, high := min(a, b), max(a, b)+1
	switch k := m.IntN(10); {
	case k < 2:
		return fmt.Sprintf("%d-%d", low, high)
	case k < 4:
		return fmt.Sprintf("%d-%d/%d", low, high, 1+m.IntN(high-low))
	case k < 6:
		return fmt.Sprintf("*/%d", 1+m.IntN(to-from))
	case k < 7 && len(names) > 0:
		return one(m, names...)
	case k < 8 && to == 6:
		return one(m, fmt.Sprintf("%d#%d", low, 1+m.IntN(5)), fmt.Sprintf("l%d", low))
	}
	return strconv.Itoa(a)
}
