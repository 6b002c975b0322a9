package progress

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/wrapper"
)

// beat is the time between two lines that name what still runs: half of the
// minute that is promised.
const beat = 30 * time.Second

// named is how many running tasks such a line names.
const named = 5

// maxLogs bounds how many failed tasks have a section: jobs' logs are bounded, and
// the report has them all.
const maxLogs = 20

// lines tells in one line after the other.
type lines struct {
	out    io.Writer
	gitlab bool
	failed []failure // for GitLab
}

// A failure is a task that failed, with the last lines that it wrote.
type failure struct{ id, line, tail string }

func (l *lines) every() time.Duration { return beat }

func (l *lines) begin(v *view, p *plan.Plan) {
	if !l.gitlab {
		return
	}
	runs := 0
	for _, d := range p.Integrations {
		if d.Decision != plan.Skip {
			runs++
		}
	}
	l.open(v, "prcheck_plan", fmt.Sprintf("Plan: %d of %d integrations to check in %s", runs, len(p.Integrations), tasks(v.total)), folded)
	for _, d := range p.Integrations {
		if d.Decision != plan.Skip {
			l.say("%s: %s", name(d.Name), sanitize.Line(d.Reason))
		}
	}
	l.shut(v, "prcheck_plan")
	l.open(v, "prcheck_tasks", "Tasks", unfolded)
}

func tasks(n int) string {
	if n == 1 {
		return "1 task"
	}
	return fmt.Sprintf("%d tasks", n)
}

func (l *lines) ended(v *view, t plan.Task, r *plan.Result) {
	if unstarted(r) {
		return
	}
	line := sentence(t, r)
	if l.gitlab && r.Tail != "" && r.Status != plan.Passed && len(l.failed) < maxLogs {
		l.failed = append(l.failed, failure{t.ID, line, r.Tail})
	}
	l.say("%s %d/%d %s", clock(v), v.done(), v.total, line)
}

func (l *lines) stopping(v *view) {
	if len(v.running) > 0 {
		l.say("%s interrupted, stopping %s", clock(v), v.list())
	}
}

func (l *lines) tick(v *view) {
	if len(v.running) == 0 && len(v.queued) == 0 {
		return
	}
	text := fmt.Sprintf("%s %d/%d done", clock(v), v.done(), v.total)
	if bad := v.bad(); bad != "" {
		text += " (" + bad + ")"
	}
	if len(v.running) > 0 {
		text += ", running: " + v.list()
	}
	if queues := v.queues(); queues != "" {
		text += ", " + queues
	}
	if left := v.left(); left != "" {
		text += ", " + left
	}
	l.say("%s", text)
}

// close ends the section of the tasks and tells, in sections of their own, what
// the failed ones said.
func (l *lines) close(v *view) {
	if v.stopping {
		l.say("%s interrupted: %s", clock(v), v.summary())
	}
	if !l.gitlab {
		return
	}
	l.shut(v, "prcheck_tasks")
	for _, f := range l.failed {
		section := "prcheck_log_" + strings.TrimSuffix(wrapper.LogName(f.id), ".log")
		l.open(v, section, f.line, folded)
		l.say("%s", sanitize.Text(f.tail))
		l.shut(v, section)
	}
}

func (l *lines) say(format string, args ...any) { _, _ = fmt.Fprintf(l.out, format+"\n", args...) }

// clock is the time since the start, aligned for the first hundred seconds.
func clock(v *view) string { return fmt.Sprintf("[%4s]", short(v.elapsed())) }

// list names running tasks with their times, not more than a few.
func (v *view) list() string {
	var parts []string
	for i, r := range v.oldest() {
		if i == named {
			parts = append(parts, fmt.Sprintf("and %d more", len(v.running)-named))
			break
		}
		parts = append(parts, name(r.id)+" "+v.times(r))
	}
	return strings.Join(parts, ", ")
}

// times is how long a task runs, and how long it should.
func (v *view) times(r running) string {
	text := short(v.now.Sub(r.began))
	if r.estimate > 0 {
		text += " of ~" + short(max(time.Second, r.estimate))
	}
	return text
}

// left tells how long the rest takes, "" when nothing can be said.
func (v *view) left() string {
	left := v.remaining()
	if left == 0 {
		return ""
	}
	return "about " + short(max(time.Second, left)) + " left"
}

// summary tells how many of the tasks passed and how many did not.
func (v *view) summary() string {
	text := fmt.Sprintf("%d of %s passed", v.counts[plan.Passed], tasks(v.total))
	if bad := v.bad(); bad != "" {
		text += ", " + bad
	}
	return text
}

// Sections of a job's log in GitLab, see
// https://docs.gitlab.com/ci/jobs/job_logs/#create-custom-collapsible-sections.
const (
	sectionStart = "\x1b[0Ksection_start:%d:%s%s\r\x1b[0K%s\n"
	sectionEnd   = "\x1b[0Ksection_end:%d:%s\r\x1b[0K\n"
	folded       = "[collapsed=true]"
	unfolded     = ""
)

// open starts a section. Its name has only letters, digits, - and _.
func (l *lines) open(v *view, section, title, how string) {
	_, _ = fmt.Fprintf(l.out, sectionStart, v.now.Unix(), section, how, title)
}

func (l *lines) shut(v *view, section string) {
	_, _ = fmt.Fprintf(l.out, sectionEnd, v.now.Unix(), section)
}
