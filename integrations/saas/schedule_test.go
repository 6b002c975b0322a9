package saas

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// A schedule names the minutes that its fields have in common.
func TestSchedule(t *testing.T) {
	monday := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		text string
		at   time.Time
		want bool
	}{
		{"0 9 * * 1", monday, true},
		{"0 9 * * mon", monday, true},
		{"0 9 * nov MON-fri", monday, true},
		{"0 9 * * 1", monday.Add(time.Minute), false},
		{"*/20 8-10 * * *", monday.Add(40 * time.Minute), true},
		{"*/20 8-10 * * *", monday.Add(41 * time.Minute), false},
		{"5/20 * * * *", monday.Add(45 * time.Minute), true},
		{"* * 23 * 2", monday, false}, // both must match
		{"* * 23 * 1", monday, true},
		{"* * * * 7", monday.Add(-24 * time.Hour), true},
		{"* * * * 0", monday.Add(-24 * time.Hour), true},
		{"1,2,0 * * * *", monday, true},
	} {
		s, err := ParseSchedule(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Matches(c.at); got != c.want {
			t.Errorf("%q at %s: got %v, want %v", c.text, c.at, got, c.want)
		}
	}
}

func TestParseScheduleRefuses(t *testing.T) {
	for _, text := range []string{"", "* * * *", "* * * * * ? 2099", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "5-2 * * * *",
		"*/0 * * * *", "-1 * * * *", "+1 * * * *", "a * * * *", "1,,2 * * * *", "@daily", "*/99999999999999999999 * * * *"} {
		if s, err := ParseSchedule(text); err == nil {
			t.Errorf("%q: got %+v", text, s)
		}
	}
}

// A schedule opens if a day of the 28 years from 2000 on fits to it: then every date fell on every
// day of the week.
func TestScheduleOpens(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 1))
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	counts := map[bool]int{}
	for range 3000 {
		text := strings.Join([]string{"0", "0", pick("*", "1", "29", "30", "31", "30,31", "29-31"), pick("*", "2", "4", "2,4", "2,6,9,11", "7", "1-3"), pick("*", "0", "3", "7", "1-5")}, " ")
		s, err := ParseSchedule(text)
		if err != nil {
			t.Fatal(err)
		}
		want := false
		for day := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2028 && !want; day = day.AddDate(0, 0, 1) {
			want = s.Matches(day)
		}
		counts[want]++
		if got := s.Opens(); got != want {
			t.Fatalf("%q: got %v, want %v", text, got, want)
		}
	}
	if counts[false] < 100 || counts[true] < 100 {
		t.Errorf("the schedules say too little: %v", counts)
	}
}

func TestParseTimeout(t *testing.T) {
	for text, want := range map[string]time.Duration{"90m": 90 * time.Minute, "1h30m": 90 * time.Minute, "2d1h": 49 * time.Hour, "10s": 10 * time.Second} {
		if got, err := ParseTimeout(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "1", "m", "1m1h", "-1h", "1.5h", "99999999999999999999h"} {
		if got, err := ParseTimeout(text); err == nil {
			t.Errorf("%q: got %v", text, got)
		}
	}
}
