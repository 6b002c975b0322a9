package baseline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/runner/baseline"
)

// compareAt compares logs of runs that began and ended at times.
func compareAt(began, ended time.Time, head string, base ...string) baseline.Comparison {
	run := func(log string) baseline.Run {
		r := failed(1)
		r.Tail = sanitize.Text(log)
		return baseline.Run{Result: r, Log: log, Began: began, Ended: ended}
	}
	var runs []baseline.Run
	for _, log := range base {
		runs = append(runs, run(log))
	}
	return baseline.Compare(task, run(head), runs...)
}

// A time is one of the run if it lies in its span, or a second beside it, in whatever form it is written.
func TestTimesOfTheRun(t *testing.T) {
	began := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	ended := began.Add(time.Minute)
	const inside = "at 10:00:30"
	for text, want := range map[string]bool{
		"at 09:59:59": true, "at 09:59:58.999": false, "at 10:01:01": true, "at 10:01:01.001": false,
		"at 2026-11-22 10:00:30": true, "at 2026/11/22 10:00:30,5": true, "at 2026-11-21 10:00:30": false,
		"at 2026-11-22":           false,
		"at 2026-11-22T10:00:30Z": true, "at 2026-11-22 10:00:30 UTC": true, "at 2026-11-22T11:00:30Z": false,
		"at 2026-11-22T12:00:30+02:00": true, "at 2026-11-22T12:00:30+0200": true, "at 2026-11-22T10:00:30+02:00": false,
		fmt.Sprintf("at %d", began.Unix()): true, fmt.Sprintf("at %d.5", began.Unix()): true, fmt.Sprintf("at %d",
			began.Unix()-2): false,
		fmt.Sprintf("at %d", began.UnixMilli()): true, fmt.Sprintf("at %d", ended.UnixMilli()+1001): false,
		fmt.Sprintf("at %d", began.UnixMicro()): false,
	} {
		if got := compareAt(began, ended, text, inside); got.Same != want {
			t.Errorf("%s: got %+v, want %v", text, got, want)
		}
	}
	if got := compareAt(began, ended, fmt.Sprint(began.Unix(), " is now"),
		fmt.Sprint(ended.Unix(), " is now")); !got.Same {
		t.Errorf("at the beginning of a line: got %+v", got)
	}
	if got := compareAt(time.Time{}, time.Time{}, "at 10:00:30", "at 10:00:31"); got.Same {
		t.Errorf("of a run of no known time: got %+v", got)
	}
	night := time.Date(2026, 11, 22, 23, 59, 30, 0, time.UTC)
	if got := compareAt(night, night.Add(time.Minute), "at 23:59:40", "at 00:00:20"); !got.Same {
		t.Errorf("over midnight: got %+v", got)
	}
}

// Of two values that a run was given, of which one begins with the other, the longer one is replaced.
func TestHandedOutValues(t *testing.T) {
	run := func(log string, values ...string) baseline.Run {
		return baseline.Run{Result: failed(1), Log: log, HandedOut: values}
	}
	for _, tt := range []struct {
		values []string
		same   bool
	}{
		{[]string{"xy", "xyz"}, true}, {[]string{"xyz", "xy"}, true}, {[]string{"xyz", ""}, true}, {[]string{"xy", ""},
			false}, {nil, false},
	} {
		got := baseline.Compare(task, run("no abcd\n", "ab", "abcd"), run("no xyz\n", tt.values...))
		if got.Same != tt.same {
			t.Errorf("%q: got %+v", tt.values, got)
		}
	}
}

// A text of digits may be a hexadecimal id if it is as long as one that is, and long enough.
func TestIdsOfDigits(t *testing.T) {
	for _, tt := range []struct {
		head, base, again string
		same              bool
	}{
		{"id 123456", "id ab12cd", "id ff12cd", true},
		{"123 is bad", "ab1 is bad", "cd2 is bad", false}, // a number, at the beginning of the line
		{"id ab12cd", "id 123456", "id 654321", true},
		{"id 12345", "id ab12c", "id ff12c", false},     // too short
		{"id 1234567", "id ab12cd", "id ff12cd", false}, // of another length
		{"id 123456", "id xy12cd", "id xz12cd", false},  // not hexadecimal
	} {
		if got := compareAt(time.Time{}, time.Time{}, tt.head, tt.base, tt.again); got.Same != tt.same {
			t.Errorf("%s: got %+v, want %v", tt.head, got, tt.same)
		}
	}
}

// What was not compared is told up to a bound, and the order of lines as their number.
func TestMuchLeftOut(t *testing.T) {
	log := func(n int, end string) string {
		var out strings.Builder
		for i := range 12 {
			fmt.Fprintf(&out, "%c took %d s\n", 'a'+i, n)
		}
		return out.String() + end
	}
	got := compareAt(time.Time{}, time.Time{}, log(1, "y\nx\n"), log(2, "x\ny\n"), log(3, "y\nx\n"))
	var want []string
	for i := range 10 {
		want = append(want, fmt.Sprintf(`a number in "%c took 2 s"`, 'a'+i))
	}
	if want = append(want, "2 more values", "the order of 2 lines"); !got.Same || !slices.Equal(got.LeftOut, want) {
		t.Errorf("got %+v, want %q", got, want)
	}
}

// Up to 200 lines of the same words are matched by what they say, more of them in their order.
func TestManyLinesOfTheSameWords(t *testing.T) {
	for n, shown := range map[int]string{200: "x 0 y 1199", 201: "x 1 y 1000"} {
		var head, base strings.Builder
		for i := range n {
			fmt.Fprintf(&head, "x %d y %d\n", (i+1)%n, 1000+i)
			fmt.Fprintf(&base, "x %d y 0\n", i)
		}
		got := compareAt(time.Time{}, time.Time{}, head.String(), base.String())
		if want := fmt.Sprintf("fails differently on base: a number differs there, in %q", shown); got.Finding != want {
			t.Errorf("%d lines: got %+v, want %s", n, got, want)
		}
	}
}

// A line that is like the first one is not taken for it.
func TestFirstLineAgain(t *testing.T) {
	const head, base = "no\n[INFO] b\nno\n[INFO] a\n", "no\n[INFO] a\nno\n[INFO] b\n"
	got := compareAt(time.Time{}, time.Time{}, head, base)
	if want := `fails differently on base: the INFO line before it differs there, in "no"`; got.Finding != want {
		t.Errorf("got %+v, want %s", got, want)
	}
}

// The fingerprint of a failure is that of its words, in any order, and not that of its noise.
func TestFingerprint(t *testing.T) {
	of := func(log string) string { return compareAt(time.Time{}, time.Time{}, log, log).Fingerprint }
	if of("a 1\nb\n") != of("b\na 2\n") || of("a\n") == of("b\n") || of("a\n") == of("a\na\n") {
		t.Errorf("got %q, %q, %q, %q", of("a 1\nb\n"), of("b\na 2\n"), of("a\n"), of("a\na\n"))
	}
}
