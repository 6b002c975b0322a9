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

// heartbeatInterval is the time between two lines that name the running tasks. It is
// half of a minute, so that a line comes at least once a minute.
const heartbeatInterval = 30 * time.Second

// maxLogSections is how many failed tasks get a section with their output. GitLab limits
// the size of a job's log, and the report has the output of all tasks.
const maxLogSections = 20

// A plainDisplay writes one line after the other.
type plainDisplay struct {
	out      io.Writer
	isGitLab bool
	failed   []failedTask // for sections in GitLab
}

// A failedTask is a task that failed, the line about it, and its last output.
type failedTask struct{ id, line, tail string }

func (d *plainDisplay) interval() time.Duration { return heartbeatInterval }

// start writes a section with the reasons of the plan in GitLab, and nothing elsewhere.
func (d *plainDisplay) start(s *runStatus, p *plan.Plan) {
	if !d.isGitLab {
		return
	}
	checked := 0
	for _, decision := range p.Integrations {
		if decision.Decision != plan.Skip {
			checked++
		}
	}
	d.openSection(s, "prcheck_plan", fmt.Sprintf("Plan: %d of %d integrations to check in %s", checked,
		len(p.Integrations), countTasks(s.total)), collapsed)
	for _, decision := range p.Integrations {
		if decision.Decision != plan.Skip {
			d.writeLine("%s: %s", displayName(decision.Name), sanitize.Line(decision.Reason))
		}
	}
	d.closeSection(s, "prcheck_plan")
	d.openSection(s, "prcheck_tasks", "Tasks", expanded)
}

func (d *plainDisplay) taskEnded(s *runStatus, t plan.Task, r *plan.Result) {
	if isUnstarted(r) {
		return
	}
	line := describeResult(t, r)
	if d.isGitLab && r.Tail != "" && r.Status != plan.Passed && len(d.failed) < maxLogSections {
		d.failed = append(d.failed, failedTask{t.ID, line, r.Tail})
	}
	d.writeLine("%s %d/%d %s", clock(s), s.ended(), s.total, line)
}

func (d *plainDisplay) stopping(s *runStatus) {
	if len(s.running) > 0 {
		d.writeLine("%s interrupted, stopping %s", clock(s), s.runningText())
	}
}

func (d *plainDisplay) refresh(s *runStatus) {
	if len(s.running) == 0 && len(s.waiting) == 0 {
		return
	}
	line := fmt.Sprintf("%s %d/%d done", clock(s), s.ended(), s.total)
	if failures := s.failuresText(); failures != "" {
		line += " (" + failures + ")"
	}
	if len(s.running) > 0 {
		line += ", running: " + s.runningText()
	}
	if waiting := s.waitingText(); waiting != "" {
		line += ", " + waiting
	}
	if remaining := s.remainingText(); remaining != "" {
		line += ", " + remaining
	}
	d.writeLine("%s", line)
}

// close ends the section of the tasks in GitLab, and writes a section with the last
// output of each failed task.
func (d *plainDisplay) close(s *runStatus) {
	if s.isStopping {
		d.writeLine("%s interrupted: %s", clock(s), s.summary())
	}
	if !d.isGitLab {
		return
	}
	d.closeSection(s, "prcheck_tasks")
	for _, f := range d.failed {
		section := "prcheck_log_" + strings.TrimSuffix(wrapper.LogName(f.id), ".log")
		d.openSection(s, section, f.line, collapsed)
		d.writeLine("%s", sanitize.Text(f.tail))
		d.closeSection(s, section)
	}
}

func (d *plainDisplay) writeLine(format string, args ...any) {
	_, _ = fmt.Fprintf(d.out, format+"\n", args...)
}

// clock returns the time since the start, "[ 12s]" for example. It is padded so that the
// lines of the first minute are aligned.
func clock(s *runStatus) string { return fmt.Sprintf("[%4s]", formatDuration(s.elapsed())) }

// The escapes for sections of a job's log in GitLab, see
// https://docs.gitlab.com/ci/jobs/job_logs/#create-custom-collapsible-sections.
const (
	sectionStart = "\x1b[0Ksection_start:%d:%s%s\r\x1b[0K%s\n"
	sectionEnd   = "\x1b[0Ksection_end:%d:%s\r\x1b[0K\n"
	collapsed    = "[collapsed=true]"
	expanded     = ""
)

// openSection starts a section. GitLab allows letters, digits, hyphens and underscores in
// its name.
func (d *plainDisplay) openSection(s *runStatus, name, title, options string) {
	_, _ = fmt.Fprintf(d.out, sectionStart, s.now.Unix(), name, options, title)
}

func (d *plainDisplay) closeSection(s *runStatus, name string) {
	_, _ = fmt.Fprintf(d.out, sectionEnd, s.now.Unix(), name)
}
