package progress

import (
	"io"
	"sync"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/wrapper"
)

// Options say where progress goes and how. Out is required.
type Options struct {
	Out    io.Writer
	Mode   Mode
	Getenv func(string) string // nil: an empty environment
	Jobs   int                 // how many tasks run at once, for the estimate of the rest; below 1 means one
}

// A Progress tells how far the tasks of a plan are. Its methods may be called by
// several goroutines at once.
type Progress struct {
	mu   sync.Mutex
	view view
	to   teller
	stop chan struct{}
	done sync.WaitGroup
	once sync.Once
}

// A teller tells what happens. Its methods are called one at a time.
type teller interface {
	begin(*view, *plan.Plan)
	ended(*view, plan.Task, *plan.Result)
	stopping(*view)
	tick(*view)
	close(*view)
	every() time.Duration // between ticks
}

// Start begins to tell about the tasks of a plan. The caller must call Close.
func Start(p *plan.Plan, opts Options) *Progress {
	to := opts.teller()
	if len(p.Tasks) == 0 {
		to = silent{}
	}
	out := &Progress{view: newView(p.Tasks, opts.Jobs, time.Now()), to: to, stop: make(chan struct{})}
	to.begin(&out.view, p)
	if to.every() > 0 {
		out.done.Go(out.run)
	}
	return out
}

// run ticks until Close.
func (p *Progress) run() {
	ticker := time.NewTicker(p.to.every())
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-ticker.C:
			p.now(p.to.tick)
		}
	}
}

// now calls tell at the present time.
func (p *Progress) now(tell func(*view)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.view.now = time.Now()
	tell(&p.view)
}

// Observe is for [wrapper.Options].
func (p *Progress) Observe(e wrapper.Event) {
	p.now(func(v *view) {
		switch {
		case e.WaitsFor != "":
			v.wait(e.Task, e.WaitsFor)
			return
		case e.Result == nil:
			v.start(e.Task)
			return
		}
		v.end(e.Task, e.Result)
		p.to.ended(v, e.Task, e.Result)
	})
}

// Stopping tells that the tasks that run are told to stop, and no more start.
func (p *Progress) Stopping() {
	p.now(func(v *view) {
		v.stopping = true
		p.to.stopping(v)
	})
}

// Close tells the end and waits until nothing is written any more. What is called
// after it does nothing.
func (p *Progress) Close() {
	p.once.Do(func() {
		close(p.stop)
		p.done.Wait()
		p.now(p.to.close)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.to = silent{}
	})
}

// silent tells nothing.
type silent struct{}

func (silent) begin(*view, *plan.Plan)              {}
func (silent) ended(*view, plan.Task, *plan.Result) {}
func (silent) stopping(*view)                       {}
func (silent) tick(*view)                           {}
func (silent) close(*view)                          {}
func (silent) every() time.Duration                 { return 0 }
