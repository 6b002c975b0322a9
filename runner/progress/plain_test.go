package progress_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/progress"
	"github.com/app-sre/prcheck/wrapper"
)

// planOf returns a plan with these tasks, each with an estimate in seconds.
func planOf(estimate float64, ids ...string) *plan.Plan {
	p := &plan.Plan{}
	for _, id := range ids {
		p.Tasks = append(p.Tasks, plan.Task{ID: id, EstimateSeconds: estimate})
		p.Integrations = append(p.Integrations, plan.Decision{Name: id, Decision: plan.Run, Reason: "its definition changed"})
	}
	p.Integrations = append(p.Integrations, plan.Decision{Name: "other", Decision: plan.Skip,
		Reason: "nothing it reads changed"})
	return p
}

// A simulation is a run in simulated time.
type simulation struct {
	*progress.Progress
	plan *plan.Plan
}

func (s simulation) start(i int) { s.Observe(wrapper.Event{Task: s.plan.Tasks[i]}) }

func (s simulation) end(i int, r plan.Result) {
	s.Observe(wrapper.Event{Task: s.plan.Tasks[i], Result: &r})
}

func passed(seconds float64) plan.Result {
	return plan.Result{Status: plan.Passed, Seconds: seconds, Attempts: 1, Tail: "all is well"}
}

func failed(seconds float64, tail string) plan.Result {
	return plan.Result{Status: plan.Failed, Seconds: seconds, Attempts: 1, Reason: "exit code 3", Tail: tail}
}

var unstarted = plan.Result{Status: plan.Canceled, Reason: "canceled before it started"}

// simulate returns the output of a simulated run. Escapes are replaced by words.
func simulate(t *testing.T, p *plan.Plan, opts progress.Display, run func(simulation)) string {
	t.Helper()
	var out bytes.Buffer
	synctest.Test(t, func(*testing.T) {
		opts.Out = &out
		s := simulation{progress.Start(p, opts), p}
		run(s)
		s.Close()
		s.Close() // a second call does nothing, and neither does a call after it
		s.Stopping()
	})
	return strings.NewReplacer("\x1b[0K", "<EL>", "\r", "<CR>").Replace(out.String())
}

var gitlab = map[string]string{"GITLAB_CI": "true", "CI": "true", "TERM": "xterm"}

func TestPlainDisplay(t *testing.T) {
	for _, tt := range []struct {
		name     string
		estimate float64
		ids      []string
		env      map[string]string
		run      func(simulation)
		want     string
	}{
		{"each end is a line", 0, []string{"tf/app-sre", "ldap"}, nil, func(s simulation) {
			s.start(0)
			time.Sleep(4100 * time.Millisecond)
			s.end(0, passed(4.1))
			s.start(1)
			time.Sleep(8 * time.Second)
			s.end(1, failed(8, "gone"))
		}, `
[  4s] 1/2 passed tf/app-sre in 4.1s
[ 12s] 2/2 failed ldap in 8.0s: exit code 3
`},
		{"a heartbeat each half minute", 0, []string{"tf", "ldap"}, nil, func(s simulation) {
			s.start(0)
			time.Sleep(10 * time.Second)
			s.start(1)
			time.Sleep(55 * time.Second)
			s.end(0, failed(65, ""))
			time.Sleep(3600 * time.Millisecond * 5)
			s.end(1, passed(73))
		}, `
[ 30s] 0/2 done, running: tf 30s, ldap 20s
[1m00s] 0/2 done, running: tf 1m00s, ldap 50s
[1m05s] 1/2 failed tf in 1m05s: exit code 3
[1m23s] 2/2 passed ldap in 1m13s
`},
		{"estimates", 60, []string{"a", "b", "c", "d"}, nil, func(s simulation) {
			s.start(0)
			time.Sleep(40 * time.Second)
			s.start(1)
			time.Sleep(21 * time.Second)
			s.end(0, failed(61, ""))
			time.Sleep(30 * time.Second)
			s.end(1, passed(51))
		}, `
[ 30s] 0/4 done, running: a 30s of ~1m00s, about 1m45s left
[1m00s] 0/4 done, running: a 1m00s of ~1m00s, b 20s of ~1m00s, about 1m20s left
[1m01s] 1/4 failed a in 1m01s: exit code 3
[1m30s] 1/4 done (1 failed), running: b 50s of ~1m00s, about 1m05s left
[1m31s] 2/4 passed b in 51.0s
`},
		{"for targets", 0, []string{"a", "b", "c", "d"}, nil, func(s simulation) {
			s.start(0)
			for i, target := range []string{"aws/x", "gcp", "aws/x\x1b[2J"} {
				s.Observe(wrapper.Event{Task: s.plan.Tasks[i+1], WaitsFor: target})
			}
			time.Sleep(31 * time.Second)
			s.end(0, passed(31))
			time.Sleep(30 * time.Second)
			s.start(1)
			s.end(2, plan.Result{Status: plan.NotRun, Reason: "target unavailable: gcp"})
			time.Sleep(30 * time.Second)
		}, `
[ 30s] 0/4 done, running: a 30s, waiting: 1 for aws/x, 1 for aws/x, 1 for gcp
[ 31s] 1/4 passed a in 31.0s
[1m00s] 1/4 done, waiting: 1 for aws/x, 1 for aws/x, 1 for gcp, about 47s left
[1m01s] 2/4 not run c: target unavailable: gcp
[1m30s] 2/4 done (1 not run), running: b 29s, waiting: 1 for aws/x, about 31s left
`},
		{"many run", 0, strings.Split("abcdefgh", ""), nil, func(s simulation) {
			for i := range 8 {
				s.start(i)
			}
			time.Sleep(31 * time.Second)
		}, `
[ 30s] 0/8 done, running: a 30s, b 30s, c 30s, d 30s, e 30s, and 3 more
`},
		{"hostile", 0, []string{"a\x1b[2Jb\r\nc\u202e", strings.Repeat("x", 500)}, nil, func(s simulation) {
			s.end(0, plan.Result{Status: plan.NotRun, Reason: "\x1b[31mno\nexec"})
			s.end(1, plan.Result{Status: plan.TimedOut, Attempts: 1, Seconds: 3723, Reason: "timed out after 1h2m3s"})
		}, `
[  0s] 1/2 not run ab c: no exec
[  0s] 2/2 timed out ` + strings.Repeat("x", 119) + `… in 1h02m: timed out after 1h2m3s
`},
		{"interrupted", 5, []string{"a", "b", "c", "d"}, nil, func(s simulation) {
			s.start(0)
			s.start(1)
			time.Sleep(2 * time.Second)
			s.end(0, passed(2))
			s.Stopping()
			time.Sleep(time.Second)
			s.end(1, plan.Result{Status: plan.Canceled, Attempts: 1, Seconds: 3, Reason: "canceled"})
			s.end(2, unstarted)
			s.end(3, unstarted)
		}, `
[  2s] 1/4 passed a in 2.0s
[  2s] interrupted, stopping b 2s of ~5s
[  3s] 2/4 canceled b in 3.0s
[  3s] interrupted: 1 of 4 tasks passed, 3 canceled
`},
		{"nothing to do", 0, nil, gitlab, func(simulation) { time.Sleep(time.Hour) }, "\n"},
		{"GitLab", 0, []string{"tf/a:b", "ldap"}, gitlab, func(s simulation) {
			s.start(0)
			time.Sleep(2 * time.Second)
			s.end(0, failed(2, "gone\x1b[31m\r\x1b[0Ksection_end:1:prcheck_tasks\r\x1b[0K\nforever"))
			s.start(1)
			s.end(1, passed(0))
		}, `
<EL>section_start:946684800:prcheck_plan[collapsed=true]<CR><EL>Plan: 2 of 3 integrations to check in 2 tasks
tf/a:b: its definition changed
ldap: its definition changed
<EL>section_end:946684800:prcheck_plan<CR><EL>
<EL>section_start:946684800:prcheck_tasks<CR><EL>Tasks
[  2s] 1/2 failed tf/a:b in 2.0s: exit code 3
[  2s] 2/2 passed ldap in 0.0s
<EL>section_end:946684802:prcheck_tasks<CR><EL>
<EL>section_start:946684802:prcheck_log_tf-a-b-27b6b9a1bbaf[collapsed=true]<CR><EL>failed tf/a:b in 2.0s: exit code 3
gone
section_end:1:prcheck_tasks
forever
<EL>section_end:946684802:prcheck_log_tf-a-b-27b6b9a1bbaf<CR><EL>
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opts := progress.Display{Getenv: func(name string) string { return tt.env[name] }, Jobs: 2}
			if got, want := simulate(t, planOf(tt.estimate, tt.ids...), opts, tt.run), tt.want[1:]; got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A line comes at least once a minute, however long a task takes.
func TestHeartbeat(t *testing.T) {
	var lines times
	synctest.Test(t, func(*testing.T) {
		p := planOf(0, "slow")
		s := simulation{progress.Start(p, progress.Display{Out: &lines}), p}
		lines = append(lines, time.Now())
		s.start(0)
		time.Sleep(10*time.Hour + time.Second)
		s.end(0, passed(36001))
		s.Close()
	})
	for i := range lines[1:] {
		if gap := lines[i+1].Sub(lines[i]); gap > time.Minute {
			t.Errorf("nothing was said for %s", gap)
		}
	}
	if len(lines) < 600 {
		t.Errorf("got %d lines in ten hours", len(lines))
	}
}

// times are the moments of writes.
type times []time.Time

func (w *times) Write(p []byte) (int, error) {
	*w = append(*w, time.Now())
	return len(p), nil
}

// The number of sections in a GitLab job is limited.
func TestManyFailures(t *testing.T) {
	ids := make([]string, 300)
	for i := range ids {
		ids[i] = fmt.Sprint("task", i)
	}
	opts := progress.Display{Getenv: func(name string) string { return gitlab[name] }}
	got := simulate(t, planOf(0, ids...), opts, func(s simulation) {
		for i := range ids {
			s.end(i, failed(1, "gone"))
		}
	})
	if n := strings.Count(got, "section_start:"); n != 22 || n != strings.Count(got, "section_end:") {
		t.Errorf("got %d sections, want 22, each with an end", n)
	}
}

func TestNone(t *testing.T) {
	got := simulate(t, planOf(0, "a"), progress.Display{Mode: progress.None}, func(s simulation) {
		s.start(0)
		time.Sleep(time.Hour)
		s.end(0, failed(3600, "gone"))
	})
	if got != "" {
		t.Errorf("got %q, want nothing", got)
	}
}

func TestMode(t *testing.T) {
	for word, want := range map[string]progress.Mode{
		"auto": progress.Auto, "terminal": progress.Terminal, "plain": progress.Plain, "none": progress.None,
	} {
		var m progress.Mode
		if err := m.Set(word); err != nil || m != want || m.String() != word {
			t.Errorf("%s: got %q %v", word, m, err)
		}
	}
	for _, word := range []string{"", "Auto", "tty", "plain "} {
		m := progress.Plain
		if err := m.Set(word); err == nil || m != progress.Plain {
			t.Errorf("%q is accepted and becomes %q", word, m)
		}
	}
}
