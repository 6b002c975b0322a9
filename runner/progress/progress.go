package progress

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8/cwriter"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/wrapper"
)

// Display say where and how progress is shown. Out is required.
type Display struct {
	Out    io.Writer
	Mode   Mode
	Getenv func(string) string // nil is an empty environment
	Jobs   int                 // how many tasks run at once, to estimate the remaining time; less than 1 counts as 1
	// Forecast is how long the run will take; nil if nobody knows.
	Forecast *plan.Forecast
}

// A Progress shows the progress of a run. Its methods may be called by several
// goroutines at once.
type Progress struct {
	mu      sync.Mutex
	status  runStatus
	display display
	stop    chan struct{}
	done    sync.WaitGroup
	once    sync.Once
}

// A display shows the status of a run. Its methods are called one at a time.
type display interface {
	start(*runStatus, *plan.Plan)
	taskEnded(*runStatus, plan.Task, *plan.Result)
	stopping(*runStatus)
	refresh(*runStatus)
	close(*runStatus)
	interval() time.Duration // between refreshes; 0 means no refreshes
}

// Start begins to show the progress of a plan's tasks. The caller must call Close.
func Start(p *plan.Plan, opts Display) *Progress {
	d := opts.newDisplay()
	if len(p.Tasks) == 0 {
		d = noDisplay{}
	}
	if _, isNone := d.(noDisplay); !isNone && opts.Forecast != nil {
		_, _ = fmt.Fprintln(opts.Out, forecastText(len(p.Tasks), *opts.Forecast)) // as every line of a display
	}
	out := &Progress{status: newRunStatus(p.Tasks, opts.Jobs, time.Now()), display: d, stop: make(chan struct{})}
	d.start(&out.status, p)
	if d.interval() > 0 {
		out.done.Go(out.refreshUntilClosed)
	}
	return out
}

// refreshUntilClosed refreshes the display regularly.
func (p *Progress) refreshUntilClosed() {
	ticker := time.NewTicker(p.display.interval())
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-ticker.C:
			p.update(p.display.refresh)
		}
	}
}

// update calls a function with the status at the present time.
func (p *Progress) update(do func(*runStatus)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.now = time.Now()
	do(&p.status)
}

// Observe takes the events of a run. It is for [wrapper.RunOptions].
func (p *Progress) Observe(e wrapper.Event) {
	p.update(func(s *runStatus) {
		switch {
		case e.WaitsFor != "":
			s.addWaiting(e.Task, e.WaitsFor)
			return
		case e.Result == nil:
			s.addRunning(e.Task)
			return
		}
		s.addResult(e.Task, e.Result)
		p.display.taskEnded(s, e.Task, e.Result)
	})
}

// Stopping shows that the run was interrupted: its running tasks are being stopped, and
// no other task starts.
func (p *Progress) Stopping() {
	p.update(func(s *runStatus) {
		s.isStopping = true
		p.display.stopping(s)
	})
}

// Close shows the end of the run. After it nothing is written any more.
func (p *Progress) Close() {
	p.once.Do(func() {
		close(p.stop)
		p.done.Wait()
		p.update(p.display.close)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.display = noDisplay{}
	})
}

// A noDisplay shows nothing.
type noDisplay struct{}

func (noDisplay) start(*runStatus, *plan.Plan)                  {}
func (noDisplay) taskEnded(*runStatus, plan.Task, *plan.Result) {}
func (noDisplay) stopping(*runStatus)                           {}
func (noDisplay) refresh(*runStatus)                            {}
func (noDisplay) close(*runStatus)                              {}
func (noDisplay) interval() time.Duration                       { return 0 }

// A Mode says how progress is shown. It is the value of a flag. The zero value chooses
// between Terminal and Plain.
type Mode string

// The modes.
const (
	Auto     Mode = ""         // Terminal if the output is a terminal and not that of a CI job, else Plain
	Terminal Mode = "terminal" // lines that are redrawn; the same as Plain if the output is not a terminal
	Plain    Mode = "plain"    // one line after the other
	None     Mode = "none"     // nothing
)

// String returns the word for the flag.
func (m *Mode) String() string {
	if *m == Auto {
		return "auto"
	}
	return string(*m)
}

// Set reads the word of the flag.
func (m *Mode) Set(word string) error {
	switch Mode(word) {
	case "auto":
		*m = Auto
	case Terminal, Plain, None:
		*m = Mode(word)
	default:
		return errors.New("must be auto, terminal, plain or none")
	}
	return nil
}

// Type returns the name of the value in the help of the flag.
func (*Mode) Type() string { return "auto|terminal|plain|none" }

func (o Display) getenv(name string) string {
	if o.Getenv == nil {
		return ""
	}
	return o.Getenv(name)
}

// newDisplay returns the display for the mode, the output and the environment.
func (o Display) newDisplay() display {
	if o.Mode == None {
		return noDisplay{}
	}
	term := o.getenv("TERM")
	canRedraw := term != "" && term != "dumb"
	isJob := o.getenv("CI") != "" && o.getenv("CI") != "false"
	if o.Mode == Terminal || o.Mode == Auto && !isJob && canRedraw {
		if f, ok := o.Out.(*os.File); ok {
			if w := cwriter.New(f); w.IsTerminal() {
				return &terminalDisplay{out: w, hasColor: o.getenv("NO_COLOR") == "" && term != "dumb"}
			}
		}
	}
	return &plainDisplay{out: o.Out, isGitLab: o.getenv("GITLAB_CI") == "true"}
}
