package wrapper_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/wrapper"
)

// soon is a backoff that is too short to delay a test.
func soon(time.Duration) time.Duration { return time.Millisecond }

// attempts is a Runner that prints one word per attempt, and the last word in every
// further attempt.
func attempts(said ...string) runnerFunc {
	n := 0
	return func(_ context.Context, _ plan.Task, log io.Writer) error {
		word := said[min(n, len(said)-1)]
		n++
		_, _ = fmt.Fprintln(log, word)
		switch {
		case word == "ok":
			return nil
		case strings.HasPrefix(word, "config"):
			return &wrapper.ConfigError{Err: errors.New("HTTP 503")}
		}
		return &wrapper.ExitError{Code: 1}
	}
}

func TestAttempts(t *testing.T) {
	const reset = "connection reset by peer"
	tests := map[string]struct {
		said     []string
		status   plan.Status
		class    plan.Class
		attempts int
	}{
		"passes":                     {[]string{"ok"}, plan.Passed, "", 1},
		"fails":                      {[]string{"no"}, plan.Failed, plan.ClassTask, 1},
		"the data is wrong":          {[]string{"config HTTP 503"}, plan.Failed, plan.ClassConfig, 1},
		"passes the second time":     {[]string{reset, "ok"}, plan.Passed, "", 2},
		"fails twice":                {[]string{reset, reset, "ok"}, plan.Failed, plan.ClassTransient, 2},
		"fails otherwise then":       {[]string{reset, "no", "ok"}, plan.Failed, plan.ClassTask, 2},
		"the data is wrong after it": {[]string{reset, "config", "ok"}, plan.Failed, plan.ClassConfig, 2},
	}
	for name, test := range tests {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			got := runOne(t, task("a"), attempts(test.said...),
				wrapper.RunOptions{Logs: wrapper.LogFolder{Dir: dir, Prefix: "logs"}})
			if got.Status != test.status || got.Class != test.class || got.Attempts != test.attempts ||
				len(got.Spans) != test.attempts {
				t.Errorf("%s: got %+v, want %s %q after %d attempts", name, got, test.status, test.class, test.attempts)
			}
			shown := []string{got.Log}
			for _, b := range got.Before {
				shown = append([]string{b.Log}, shown...)
			}
			for i, path := range shown {
				raw, err := os.ReadFile(filepath.Join(dir, strings.TrimPrefix(path, "logs/")))
				if want := test.said[i] + "\n"; err != nil || string(raw) != want {
					t.Errorf("%s: the log of attempt %d, %s, is %q (%v), want %q", name, i+1, path, raw, err, want)
				}
				read, err := wrapper.LogFolder{Dir: dir}.Read("a", i+1, 1000)
				if err != nil || read != string(raw) {
					t.Errorf("%s: read %q, %v", name, read, err)
				}
			}
		})
	}
}

// The pause is five seconds plus or minus a half, and differs between tasks.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pauses := map[float64]bool{}
		for range 50 {
			got := runOne(t, task("a"), attempts("HTTP 503", "ok"), wrapper.RunOptions{})
			pause := got.Spans[1].Started
			if pause < 2.5 || pause > 7.5 {
				t.Errorf("paused %gs, want 2.5 to 7.5", pause)
			}
			pauses[pause] = true
		}
		if len(pauses) < 10 {
			t.Errorf("only %d different pauses of 50", len(pauses))
		}
		short := task("a")
		short.Timeout = "1s"
		got := runOne(t, short, attempts("HTTP 503", "ok"), wrapper.RunOptions{})
		if pause := got.Spans[1].Started; pause < 0.5 || pause > 1.5 {
			t.Errorf("a task that may take a second paused %gs, want 0.5 to 1.5", pause)
		}
	})
}

// A run that is canceled during the pause ends at once. The task is then canceled, not
// failed, so that a run that resumes it tries it again.
func TestCancelDuringThePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		got, err := wrapper.Run(ctx, []plan.Task{task("a")}, attempts("HTTP 503", "ok"),
			wrapper.RunOptions{Backoff: func(time.Duration) time.Duration { return time.Hour }})
		want := []plan.Result{{Task: "a", Status: plan.Canceled, Reason: "canceled", ExitCode: 1, Attempts: 1,
			Spans: []plan.Span{{}}, Tail: "HTTP 503"}}
		if err != nil || !reflect.DeepEqual(got, want) || time.Since(began) != time.Second {
			t.Errorf("after %s got %+v, %v\nwant %+v", time.Since(began), got, err, want)
		}
	})
}

// Reading a log that is too large is an error.
func TestReadLog(t *testing.T) {
	dir := t.TempDir()
	logs := wrapper.LogFolder{Dir: dir}
	runOne(t, task("a"), says("12345678"), wrapper.RunOptions{Logs: logs})
	if text, err := logs.Read("a", 1, 8); text != "12345678" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	if _, err := logs.Read("a", 1, 7); err == nil {
		t.Error("read a log that is too large")
	}
	if _, err := logs.Read("a", 2, 8); err == nil {
		t.Error("read a log that is not there")
	}
	if _, err := logs.Read("../a", 1, 8); err == nil {
		t.Error("read another log")
	}
}

// A task with an earlier result gets one more attempt, with the next log. Its result
// lists all attempts.
func TestBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := wrapper.RunOptions{Logs: wrapper.LogFolder{Dir: t.TempDir()}, Began: time.Now(), Backoff: soon}
		said := attempts("HTTP 503", "HTTP 503", "HTTP 503", "ok")
		first := runOne(t, task("a"), said, opts)
		time.Sleep(time.Minute)
		opts.Before = map[string]plan.Result{"a": first}
		second := runOne(t, task("a"), said, opts)
		if second.Class != plan.ClassTransient || second.Attempts != 3 || len(second.Before) != 2 {
			t.Errorf("got %+v, want that it failed in attempt 3, and no other one", second)
		}
		lost := second
		lost.Waited, lost.Spans = 4, nil // as in a run that is resumed
		opts.Before["a"] = lost
		third := runOne(t, task("a"), said, opts)
		for _, test := range []struct {
			got    plan.Result
			status plan.Status
			waited float64
			spans  []float64
		}{{second, plan.Failed, 0, []float64{0, 0.001, 60.001}}, {third, plan.Passed, 4, nil}} {
			var spans []float64
			for _, s := range test.got.Spans {
				spans = append(spans, s.Started)
			}
			if test.got.Status != test.status || test.got.Waited != test.waited || !slices.Equal(spans, test.spans) {
				t.Errorf("got %+v, want %s, waited %g, %v", test.got, test.status, test.waited, test.spans)
			}
			logs := []string{test.got.Log}
			for _, b := range test.got.Before {
				logs = append(logs, b.Log)
			}
			slices.Sort(logs)
			if n := len(slices.Compact(logs)); n != test.got.Attempts {
				t.Errorf("%d attempts have %d logs: %q", test.got.Attempts, n, logs)
			}
		}
	})
}
