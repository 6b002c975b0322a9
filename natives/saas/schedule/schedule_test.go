package schedule

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/shared"
)

func TestWindowCases(t *testing.T) {
	shared.Each(t, "window", func(t *testing.T, c struct {
		Input struct {
			Schedule  string
			Now, Last time.Time
			MaxGap    float64 `json:"max_gap_s"`
		}
		Expected struct {
			Open, Error bool
			Next        time.Time
		}
	}) {
		s, err := Parse(c.Input.Schedule)
		if (err != nil) != c.Expected.Error {
			t.Fatalf("got %v, want an error: %t", err, c.Expected.Error)
		}
		gap := MaxGap
		if c.Input.MaxGap > 0 {
			gap = time.Duration(c.Input.MaxGap * float64(time.Second))
		}
		open, next := s.Window(c.Input.Now, c.Input.Last, gap)
		if open != c.Expected.Open || !c.Expected.Next.IsZero() && !next.Equal(c.Expected.Next) {
			t.Errorf("got %t, %v, want %+v", open, next, c.Expected)
		}
	})
}

func at(text string) time.Time {
	t, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestNext(t *testing.T) {
	for _, c := range []struct{ schedule, after, want string }{
		{"* * * * *", "2026-11-23 12:00", "2026-11-23 12:01"},
		{"0 9 * * 1", "2026-11-23 09:00", "2026-11-30 09:00"},
		{"0 9 * * mon", "2026-11-23 08:59", "2026-11-23 09:00"},
		{"*/20 * * * *", "2026-11-23 12:41", "2026-11-23 13:00"},
		{"5/20 * * * *", "2026-11-23 12:26", "2026-11-23 12:45"},
		{"0 0 29 2 1", "2026-11-23 12:00", "2044-02-29 00:00"}, // a leap day that is a Monday
		{"0 0 * * 7", "2026-11-23 12:00", "2026-11-29 00:00"},
		{"0 0 * * fri-mon", "2026-11-23 12:00", "2026-11-27 00:00"},
		{"0 22-1 * * *", "2026-11-23 23:30", "2026-11-24 00:00"},
		{"0 0 1 DEC ?", "2026-11-23 12:00", "2026-12-01 00:00"},
		{"1,3,59 12 * * *", "2026-11-23 12:03", "2026-11-23 12:59"},
		{"@weekly", "2026-11-23 12:00", "2026-11-29 00:00"},
		{"0 0 30 2 *", "2026-11-23 12:00", ""},
	} {
		s, err := Parse(c.schedule)
		if err != nil {
			t.Errorf("%s: %v", c.schedule, err)
			continue
		}
		got := ""
		if next := s.Next(at(c.after)); !next.IsZero() {
			got = next.Format("2006-01-02 15:04")
		}
		if got != c.want {
			t.Errorf("%s after %s: got %s, want %s", c.schedule, c.after, got, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"", "* * * *", "* * * * * * *", "* * * * * 60", "? * * * *", "* * * * 1#6",
		"* * * * 1,2#3", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 13 *", "* * * * 8",
		"a * * * *", "*/0 * * * *", "*/x * * * *", "1- * * * *", "-1 * * * *", "1,,2 * * * *", "* * * ja *", "L * * * *",
		"@never", "+1 * * * *", strings.Repeat(" ", 2000) + Always} {
		if s, err := Parse(text); err == nil {
			t.Errorf("%q: got %v", text, s)
		}
	}
}

// An hour is looked at again and again: each minute of a schedule is seen by exactly those looks
// that come after it and not more than the gap later, and a look right after another sees nothing
// that the other saw, unless it is still that minute.
func TestWindowSeesEachMinuteOnce(t *testing.T) {
	seen := 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		minute := r.IntN(60)
		s, err := Parse(fmt.Sprintf("%d 12 * * *", minute))
		if err != nil {
			t.Fatal(err)
		}
		opens := at("2026-11-23 12:00").Add(time.Duration(minute) * time.Minute)
		last := opens.Add(-time.Duration(r.IntN(3600)) * time.Second)
		now := last.Add(time.Duration(1+r.IntN(3600)) * time.Second)
		want := opens.After(last) && !opens.After(now) && !opens.Before(now.Add(-MaxGap).Truncate(time.Minute)) ||
			now.Truncate(time.Minute).Equal(opens)
		got, next := s.Window(now, last, MaxGap)
		if got != want || got != next.IsZero() || !got && !next.After(now) {
			t.Fatalf("seed %d: opens at %v, last %v, now %v: got %t, %v, want %t", seed, opens, last, now, got, next, want)
		}
		if again, _ := s.Window(now.Add(time.Minute), now, MaxGap); got && again &&
			!now.Add(time.Minute).Truncate(time.Minute).Equal(opens) {
			t.Fatalf("seed %d: the window at %v was seen twice", seed, opens)
		}
		if got {
			seen++
		}
	}
	if seen < 200 {
		t.Errorf("only %d windows were seen, so the law says little", seen)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("0 9 * * mon-fri", int64(1))
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		from := time.Unix(unix%(1<<33), 0).UTC()
		if next := s.Next(from); !next.IsZero() && (!next.After(from) || !s.Matches(next)) {
			t.Errorf("%q after %v: got %v", text, from, next)
		}
	})
}
