package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/safepath"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/report/lines"
	"github.com/app-sre/prcheck/report/live"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/wrapper"
)

// liveFlags say whether the page is shown while tasks run.
type liveFlags struct {
	open  bool
	serve string // "" does not serve
}

// register adds the flags to a command.
func (f *liveFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.open, "open", false, "open the page of the report in the browser while tasks run; it is also "+
		"written, to the file of --html or to report.html in the folder of the logs")
	cmd.Flags().StringVar(&f.serve, "serve", "", "as --open, but only tell the address; --serve=HOST:PORT of this "+
		"machine takes another than a free port of 127.0.0.1")
	cmd.Flags().Lookup("serve").NoOptDefVal = "127.0.0.1:0"
}

// isOn reports whether the page is shown.
func (f liveFlags) isOn() bool { return f.open || f.serve != "" }

// check returns an error where nobody could look at the page.
func (f liveFlags) check(env cli.Env) error {
	if ci := env.Getenv("CI"); f.isOn() && ci != "" && ci != "false" {
		return cli.Usage(errors.New("--open and --serve are for people, and nobody looks at a job while it runs: " +
			"leave them out; --html FILE writes the page, and the note links to it"))
	}
	if f.serve != "" {
		if err := live.CheckAddress(f.serve); err != nil {
			return cli.Usage(fmt.Errorf("--serve: %w", err))
		}
	}
	return nil
}

// pageName returns the file of the page: the one that the user named, or one beside the logs if the page is shown.
func (f liveFlags) pageName(html, logs string) string {
	if html != "" || !f.isOn() {
		return html
	}
	return filepath.Join(logs, "report.html")
}

// removePage removes the page of the run before: a run that ends early leaves none that looks like its own. What the
// command reads stays.
func (f liveFlags) removePage(name string, reads ...string) error {
	if !f.isOn() || isRead(name, reads) {
		return nil
	}
	if err := safepath.Remove(name); err != nil {
		return cli.Invalid(fmt.Errorf("removing an earlier page: %w", err))
	}
	return nil
}

// A shownPage is the page of a run, shown while its tasks run. A nil one is not shown.
type shownPage struct {
	session *live.Session
	browser *live.Browser
	env     cli.Env
	name    string
}

// start shows the page of a plan. The tasks of the plan have not started.
func (f liveFlags) start(ctx context.Context, env cli.Env, name string, at fileInputs) (*shownPage, error) {
	if !f.isOn() {
		return nil, nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		return nil, err
	}
	contents, err := change.Contents(ctx, at.natives, at.base, at.head)
	if err != nil {
		contents = nil // the end of the run tells why
	}
	pages := livePages{plan: at.plan, contents: contents, locator: at.liveLocator(ctx)}
	session, err := live.Start(ctx, live.Options{Address: f.serve, Plan: at.plan, Render: pages.write, Rows: pages.rows,
		Copy: func(page []byte) error {
			return cli.WriteFile(name, func(w io.Writer) error { _, err := w.Write(page); return err })
		}})
	if err != nil {
		return nil, err
	}
	s := &shownPage{session: session, env: env, name: name}
	s.say("the page is at " + session.Address() + " while tasks run, and then in " + name)
	if f.open {
		if s.browser, err = session.Open(env.Getenv, s.say); err != nil {
			s.say(err.Error() + "; open the address above yourself")
		}
	}
	return s, nil
}

// say tells a person something on stderr.
func (s *shownPage) say(line string) {
	_, _ = fmt.Fprintf(s.env.Stderr, "runner: %s\n", report.Printable(line)) // only a note
}

// watch returns what takes the events of the run, nil if nothing is shown.
func (s *shownPage) watch() func(wrapper.Event) {
	if s == nil {
		return nil
	}
	return s.session.Observe
}

// stopCopies ends the writing of copies, before the page is written for the last time.
func (s *shownPage) stopCopies() {
	if s != nil {
		s.session.StopCopies()
	}
}

// end shows the last page; nil if the run has no results. It waits for a browser that would end with the command.
func (s *shownPage) end(ctx context.Context, page *report.Page) {
	if s == nil {
		return
	}
	var last bytes.Buffer
	if page != nil {
		shown := *page
		shown.Log = nil // the server has no logs
		if err := report.HTML(&last, shown); err != nil {
			last.Reset()
		}
	}
	if err := s.session.End(ctx, last.Bytes()); err != nil {
		s.say("ending the page: " + err.Error())
	}
	if s.browser != nil {
		s.browser.Wait(ctx, func() {
			s.say("the browser that was started for the page ends with this command: close it, or press ctrl-C; the report is " +
				"in " + s.name)
		})
	}
}

// livePages writes the pages of a run that has not ended.
type livePages struct {
	plan     *plan.Plan
	contents *report.Contents
	locator  func() report.Locator
}

// page returns the page of some results of a plan.
func (l livePages) page(p *plan.Plan, results *plan.Results) report.Page {
	partial := report.Partial(p, results)
	rep := report.New(partial, results)
	if at := l.locator(); at != nil {
		rep.Locate(at)
	}
	return report.Page{Plan: partial, Report: rep, Contents: l.contents}
}

func (l livePages) write(w io.Writer, results *plan.Results, running *report.Running) error {
	page := l.page(l.plan, results)
	page.Running = running
	return report.HTML(w, page)
}

func (l livePages) rows(result plan.Result, after int) ([]string, int, error) {
	one := *l.plan // with what matters to the task
	task, _ := l.plan.Task(result.Task)
	d, _ := l.plan.Decision(task.Integration)
	one.Tasks, one.Integrations = []plan.Task{task}, []plan.Decision{d}
	return report.EffectRows(l.page(&one, &plan.Results{Version: plan.Version, Plan: l.plan.Digest,
		Results: []plan.Result{result}}), after)
}

// liveLocator returns a function that returns a locator of findings, nil if the checkout of head is not at hand. Each
// call returns its own: a locator is for one goroutine.
func (f fileInputs) liveLocator(ctx context.Context) func() report.Locator {
	none := func() report.Locator { return nil }
	if !source.IsCheckout(f.headRef) {
		return none
	}
	texts, err := f.open.Texts(ctx, f.reference())
	if err != nil || texts.Read == nil {
		return none
	}
	return func() report.Locator {
		return lines.New(lines.Files{Checkout: f.open.Settings.Checkout(), Read: texts.Read}, f.base, f.head)
	}
}
