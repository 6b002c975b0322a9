package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/baseline"
	"github.com/app-sre/prcheck/runner/launch"
	"github.com/app-sre/prcheck/server"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/wrapper"
)

// maxLog bounds the logs that are compared, in bytes.
const maxLog = 4 << 20

// onBase returns what runs tasks over base alone. Nothing is recorded of it:
// traces are of head.
func (j job) onBase(getenv func(string) string) func([]plan.Task) (wrapper.Runner, error) {
	unseen := func(string) func(server.Exchange) { return nil }
	return launch.World{
		Base: j.base, Head: j.base, Settings: j.settings, Folder: source.Folder(j.settings),
		Natives: source.Natives(), Observe: unseen, Getenv: getenv,
	}.Runner
}

// baseFolder is where the logs on base go.
func (j job) baseFolder() string { return filepath.Join(j.logs, "base") }

// baseLogs is the folder for logs on base. A link there could lead to the logs that
// they are compared with.
func (j job) baseLogs() (wrapper.LogFolder, error) {
	dir := j.baseFolder()
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return wrapper.LogFolder{}, cli.Invalid(fmt.Errorf("nothing runs on base: %q is no folder, take it away", filepath.ToSlash(dir)))
	}
	return wrapper.LogFolder{Dir: dir, Prefix: path.Join(filepath.Base(j.logs), "base")}, nil
}

// compare compares what a task said on head with what it said on base.
func (j job) compare(t plan.Task, head, base plan.Result) baseline.Comparison {
	here := failure(t, head, wrapper.LogFolder{Dir: j.logs})
	there := failure(t, base, wrapper.LogFolder{Dir: j.baseFolder()})
	return baseline.Compare(t, here, there, j.base.SHA256(), j.head.SHA256())
}

// failure is a result with the log of its last attempt. A file that the result
// does not name is that of an earlier run, and one that ends otherwise that of a
// later one.
func failure(t plan.Task, r plan.Result, logs wrapper.LogFolder) baseline.Failure {
	if r.Log == "" {
		return baseline.Failure{Result: r, Err: errors.New("there is none")}
	}
	log, err := logs.Read(t.ID, r.Attempts, maxLog)
	if err == nil && wrapper.Tail(log) != r.Tail {
		err = errors.New("another run wrote it")
	}
	return baseline.Failure{Result: r, Log: log, Err: err}
}

// known are those failures whose tasks base knows.
func (j job) known(all []*doubt) ([]*doubt, error) {
	if len(all) == 0 {
		return nil, nil
	}
	defs, err := integration.List(j.base)
	if err != nil {
		return nil, cli.Invalid(err)
	}
	var out []*doubt
	for _, d := range all {
		defined := slices.ContainsFunc(defs, func(def integration.Definition) bool { return def.Name == d.task.Integration })
		if defined && (d.task.Shard == "" || mentions(j.base, d.task.Shard)) {
			out = append(out, d)
		}
	}
	return out, nil
}

// onBaseAlone is a task as it runs on base: to its end, since there is no
// difference by which it could leave anything out.
func onBaseAlone(t plan.Task) plan.Task {
	t.When = slices.DeleteFunc(slices.Clone(t.When), func(c string) bool {
		return c == string(integration.EarlyExit) || c == string(integration.AffectedOnly)
	})
	return t
}

// mentions tells whether a bundle has a datafile with this very text as a value.
// A shard of which there is no word on base is new, and its failure is the
// change's, whatever a command says on base of a shard that it does not know.
func mentions(b *bundle.Bundle, shard string) bool {
	var quoted bytes.Buffer
	enc := json.NewEncoder(&quoted)
	enc.SetEscapeHTML(false)
	if enc.Encode(shard) != nil {
		return false
	}
	word := bytes.TrimSpace(quoted.Bytes())
	return slices.ContainsFunc(b.Datafiles(), func(f *bundle.File) bool { return bytes.Contains(f.Raw(), word) })
}

func failures(n int) string {
	if n == 1 {
		return "1 task failed"
	}
	return fmt.Sprintf("%d tasks failed", n)
}

func it(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// flaky tells which tasks are known to be flaky.
func (j job) flaky() func(plan.Task) bool {
	if j.state == nil {
		return func(plan.Task) bool { return false }
	}
	return source.History(j.state).Snapshot(time.Now()).Flaky
}

// blames remembers how the tasks ended that ran since the begin, and those of an
// earlier run that did not get to it. Trouble with it is a warning.
func (j job) blames(out *plan.Results, found map[string]baseline.Comparison, begin time.Time) {
	if j.state == nil {
		return
	}
	err := source.History(j.state).Counted(j.counted()).Remember(j.plan.Tasks, out.Results, marks(found), begin, time.Now())
	switch {
	case err == nil && j.journal != nil:
		j.journal.Count()
	case err != nil && !errors.Is(err, state.ErrReadOnly): // that was told when it was opened
		out.Warnings = append(out.Warnings, err.Error())
	}
}

// marks are the marks of the failures that are the same on base, by task.
func marks(found map[string]baseline.Comparison) map[string]string {
	out := map[string]string{}
	for task, c := range found {
		out[task] = c.Mark
	}
	return out
}
