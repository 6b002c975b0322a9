package runner

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/runner/launch"
	"github.com/app-sre/prcheck/runner/place"
	"github.com/app-sre/prcheck/runner/progress"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/wrapper"
)

// Input is all that the results of a run depend on. Plan, Base, Head and Settings are
// required.
type Input struct {
	Plan       *plan.Plan
	Base, Head *bundle.Bundle          // the bundles that the plan was made from
	Settings   *settings.Settings      // the settings that the plan was made with
	Natives    []integration.DryRunner // the integrations that are part of the program
	Folder     string                  // the folder in which tasks start without Places; "" is the current folder
	// BaseSettings are the settings as base has them; nil: the same. What they say otherwise about
	// an integration makes its run on base another one.
	BaseSettings *settings.Settings
	Places       *place.Places // in which tasks start; nil: all in Folder, which belongs to neither side
	State        state.Store   // what earlier runs remembered; nil remembers nothing
	StateSize    int64         // bytes that the state may have; 0 is as [state.DefaultLimits] has it
	// Programs digests the files that a command may use; nil: none count.
	Programs func(settings.Programs) (string, error)
	Getenv   func(string) string // the environment; a task gets only the variables that exec.pass_env names; nil is empty
	// the whole environment as NAME=value, which is searched for secrets to mask; nil is empty
	Environ func() []string
	// Connect returns, for each integration, what a native reads beside the data. Learn is told
	// each secret before anybody gets it. Nil reads nothing; package natives/systems has all.
	Connect func(rules *settings.Settings, learn func(secret string)) func(integration string) launch.Systems
}

// Options control a run. The zero value runs all tasks and shows nothing.
type Options struct {
	Jobs        int           // how many tasks run at once; 0 is one per processor
	Part        plan.Fraction // the part of the plan to run; the zero value is the whole plan
	Logs        string        // the folder for complete logs; "" is "logs"
	Temp        string        // the folder for config files of tasks; "" is that of the system
	NoBaseline  bool          // run nothing on base: every failure fails the check
	FailFast    bool          // start nothing after the first failure that belongs to the change
	MemoryLimit int64         // bytes that the running tasks may need together; 0 is no limit
	Journal     *os.File      // takes each result when its task ends; nil keeps no journal
	Resume      bool          // keep the results that the journal holds, and run only the other tasks
	// Backoff returns the pause before another attempt of a task that has the given
	// timeout. If it is nil, the pause is that of [wrapper.RunOptions].
	Backoff  func(timeout time.Duration) time.Duration
	Progress progress.Display    // shows what runs; without Out nothing is shown
	Watch    func(wrapper.Event) // is told what happens to tasks on head, one call at a time; nil tells nobody
	Notes    io.Writer           // takes messages for people, one per line; nil drops them
}

// withDefaults returns the options with defaults filled in.
func (o Options) withDefaults() Options {
	if o.Jobs <= 0 {
		o.Jobs = runtime.GOMAXPROCS(0)
	}
	if o.Logs == "" {
		o.Logs = "logs"
	}
	if o.Notes == nil {
		o.Notes = io.Discard
	}
	if o.Progress.Out == nil {
		o.Progress.Out, o.Progress.Mode = io.Discard, progress.None
	}
	o.Progress.Jobs = o.Jobs
	return o
}

// withDefaults returns the input with defaults filled in.
func (in Input) withDefaults() Input {
	if in.Getenv == nil {
		in.Getenv = func(string) string { return "" }
	}
	if in.Places == nil {
		in.Places = &place.Places{Folder: in.Folder, Shared: true}
	}
	if in.Connect == nil {
		in.Connect = func(*settings.Settings, func(string)) func(string) launch.Systems { return nil }
	}
	return in
}

// check returns an error unless bundles and settings are those of the plan, and say how
// to start a task.
func (in Input) check() error {
	if in.Plan == nil || in.Base == nil || in.Head == nil || in.Settings == nil {
		return errors.New("running a plan needs the plan, both bundles and the settings")
	}
	return errors.Join(
		CheckSettings(in.Plan, in.Settings),
		in.Plan.Base.CheckBundle("base", in.Base.SHA256()),
		in.Plan.Head.CheckBundle("head", in.Head.SHA256()),
		checkStartable(in.Plan),
		checkLogNames(in.Plan),
		in.readBundles(),
	)
}

// readBundles reads all of both bundles: tasks are served from them, and a file that cannot be
// read must not be noticed in the middle of an answer.
func (in Input) readBundles() error { return errors.Join(in.Base.ReadAll(), in.Head.ReadAll()) }

// checkLogNames returns an error if two tasks would write one log. Names of logs hold a short
// digest, and a change chooses the keys of its shards: it could look for two with one name.
func checkLogNames(p *plan.Plan) error {
	tasks := map[string]string{}
	for _, t := range p.Tasks {
		name := wrapper.LogName(t.ID)
		if other, ok := tasks[name]; ok {
			return fmt.Errorf("the tasks %q and %q would have one log, %s: rename one of their shards", other, t.ID, name)
		}
		tasks[name] = t.ID
	}
	return nil
}

// checkStartable returns an error if the plan has tasks and the settings do not say how to
// start any of them. A change cannot be blamed for this.
func checkStartable(p *plan.Plan) error {
	isUnknown := func(t plan.Task) bool { return t.Blocked == plan.Reason{Code: plan.CodeNoExec}.String() }
	if len(p.Tasks) == 0 || !slices.ContainsFunc(p.Tasks, isUnknown) {
		return nil
	}
	for _, t := range p.Tasks {
		if !isUnknown(t) {
			return nil
		}
	}
	return fmt.Errorf("none of the %d tasks can be started: %s; base's settings count, so merge exec.argv first, or "+
		"give settings from outside of the repository with --config FILE",
		len(p.Tasks), plan.Reason{Code: plan.CodeNoExec})
}

// CheckSettings returns an error unless the plan was made with these settings.
func CheckSettings(p *plan.Plan, s *settings.Settings) error {
	switch {
	case s.Digest() == p.Config:
		return nil
	case s.File == "":
		return errors.New("the plan was made with settings, and there is no prcheck.yaml here: give them with --config")
	}
	return fmt.Errorf("the plan was made with other settings than %q: give those with --config, or plan again", s.File)
}
