package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/baseline"
	"github.com/app-sre/prcheck/wrapper"
)

// maxLog is how many bytes of a log are read for a comparison.
const maxLog = 4 << 20

// baseFolder returns the folder for the logs of runs on base.
func (r *run) baseFolder() string { return filepath.Join(r.opts.Logs, "base") }

// baseLogs returns the folder for the logs of runs on base. It refuses a link in the place
// of the folder. A link could lead to the logs of head, and then a log would be compared
// with itself.
func (r *run) baseLogs() (wrapper.LogFolder, error) {
	dir := r.baseFolder()
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return wrapper.LogFolder{}, cli.Invalid(fmt.Errorf("tasks cannot run on base: %q is not a folder; remove it", filepath.ToSlash(dir)))
	}
	return wrapper.LogFolder{Dir: dir, Prefix: path.Join(filepath.Base(r.opts.Logs), "base")}, nil
}

// compareLogs compares how a task failed on head with how it ended on base.
func (r *run) compareLogs(t plan.Task, head, base plan.Result) baseline.Comparison {
	onHead := withLog(t, head, wrapper.LogFolder{Dir: r.opts.Logs})
	onBase := withLog(t, base, wrapper.LogFolder{Dir: r.baseFolder()})
	return baseline.Compare(t, onHead, onBase, r.Base.SHA256(), r.Head.SHA256(), bundle.Apart(r.Base, r.Base).SHA256())
}

// withLog returns a failed result with the log of its last attempt. The log is used only
// if the result names a log and the log ends with the result's tail. If it ends otherwise,
// another run has written the file.
func withLog(t plan.Task, r plan.Result, logs wrapper.LogFolder) baseline.Failure {
	if r.Log == "" {
		return baseline.Failure{Result: r, LogErr: errors.New("there is none")}
	}
	log, err := logs.Read(t.ID, r.Attempts, maxLog)
	if err == nil && wrapper.Tail(log) != r.Tail {
		err = errors.New("another run wrote it")
	}
	return baseline.Failure{Result: r, Log: log, LogErr: err}
}

// knownOnBase returns the failures whose integration and shard exist on base. The failure
// of a new integration or shard belongs to the change, even if its command fails on base
// in the same way.
func (r *run) knownOnBase(failures []*failure) ([]*failure, error) {
	if len(failures) == 0 {
		return nil, nil
	}
	definitions, err := r.Settings.List(r.Base)
	if err != nil {
		return nil, cli.Invalid(err)
	}
	var out []*failure
	for _, f := range failures {
		isDefined := slices.ContainsFunc(definitions, func(d integration.Definition) bool { return d.Name == f.task.Integration })
		if isDefined && (f.task.Shard == "" || mentionsShard(r.Base, f.task.Shard)) {
			out = append(out, f)
		}
	}
	return out, nil
}

// withoutOmissions returns a task that does all its work, without the conditions under which
// it may leave out work that did not change. On base alone nothing differs from base, so
// with these conditions the task would do nothing.
func withoutOmissions(t plan.Task) plan.Task {
	t.When = slices.DeleteFunc(slices.Clone(t.When), func(c string) bool {
		return c == string(integration.EarlyExit) || c == string(integration.AffectedOnly)
	})
	return t
}

// mentionsShard reports whether a datafile of a bundle has the name of a shard as a
// whole JSON string.
func mentionsShard(b *bundle.Bundle, shard string) bool {
	var quoted bytes.Buffer
	enc := json.NewEncoder(&quoted)
	enc.SetEscapeHTML(false)
	if enc.Encode(shard) != nil {
		return false
	}
	word := bytes.TrimSpace(quoted.Bytes())
	return slices.ContainsFunc(b.Datafiles(), func(f *bundle.File) bool { return bytes.Contains(f.Raw(), word) })
}
