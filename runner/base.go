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
	"sync"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/runner/baseline"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/wrapper"
)

// maxLog is how many bytes of a log are read for a comparison.
const maxLog = 4 << 20

// The folders for logs of runs that are compared, inside the folder for logs.
const (
	baseFolder  = "base"  // of runs on base
	alikeFolder = "alike" // of runs on head that are started as on base
)

// comparedLogs returns a folder for the logs of runs that are compared. It refuses a link
// in the place of the folder. A link could lead to the logs of head, and then a log would
// be compared with itself.
func (r *run) comparedLogs(name string) (wrapper.LogFolder, error) {
	dir := filepath.Join(r.opts.Logs, name)
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return wrapper.LogFolder{}, cli.Invalid(fmt.Errorf("tasks cannot run on base: %q is not a folder; remove it",
			filepath.ToSlash(dir)))
	}
	return wrapper.LogFolder{Dir: dir, Prefix: path.Join(filepath.Base(r.opts.Logs), name)}, nil
}

// evidence returns a failed result with the log of its last attempt, when that attempt
// ran, and the values that were handed out to it. The log is used only if the result names
// a log and the log ends with the result's tail. If it ends otherwise, another run has
// written the file.
func (r *run) evidence(t plan.Task, result plan.Result, logs wrapper.LogFolder, handedOut []string) baseline.Run {
	out := baseline.Run{Result: result, HandedOut: append(handedOut, r.Base.SHA256(), r.Head.SHA256(),
		bundle.Apart(r.Base, r.Base).SHA256())}
	if n := len(result.Spans); n > 0 && !r.began.IsZero() {
		seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
		out.Began, out.Ended = r.began.Add(seconds(result.Spans[n-1].Started)), r.began.Add(seconds(result.Spans[n-1].End()))
	}
	if result.Log == "" {
		out.LogErr = errors.New("there is none")
		return out
	}
	out.Log, out.LogErr = logs.Read(t.ID, result.Attempts, maxLog)
	if out.LogErr == nil && wrapper.Tail(out.Log) != result.Tail {
		out.LogErr = errors.New("another run wrote it")
	}
	return out
}

// A handouts holds, by task, the values that the runner gave to the last attempt. The zero
// value is empty.
type handouts struct {
	mu     sync.Mutex
	values map[string][]string
}

// note keeps the values that an attempt of a task is given.
func (h *handouts) note(task string, values []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.values == nil {
		h.values = map[string][]string{}
	}
	h.values[task] = values
}

// of returns the values that the last attempt of a task was given.
func (h *handouts) of(task string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.values[task])
}

// knownOnBase returns the failures whose integration and shard exist on base and may run
// there. The failure of a new integration, command or shard belongs to the change, even if its
// command fails on base in the same way.
func (r *run) knownOnBase(failures []*failure) ([]*failure, error) {
	if len(failures) == 0 {
		return nil, nil
	}
	definitions, err := integration.List(r.Base, r.Settings)
	if err != nil {
		return nil, cli.Invalid(err)
	}
	var out []*failure
	for _, f := range failures {
		isDefined := slices.ContainsFunc(definitions, func(d integration.Definition) bool {
			return d.Name == f.task.Integration && d.Check != nil
		})
		if !isDefined || r.Settings.For(f.task.Integration).NoBaseline ||
			f.task.Shard != "" && !mentionsShard(r.Base, f.task.Shard) {
			continue
		}
		if why := r.whyNotOnBase(f.task); why != "" {
			f.head.Baseline = &plan.Baseline{Finding: "not comparable with base: " + why}
			continue
		}
		out = append(out, f)
	}
	return out, nil
}

// hasOmissions reports whether a task may leave out work that did not change.
func hasOmissions(t plan.Task) bool { return len(withoutOmissions(t).When) < len(t.When) }

// withoutOmissions returns a task that does all its work, without the conditions under which
// it may leave out work that did not change. On base alone nothing differs from base, so
// with these conditions the task would do nothing.
func withoutOmissions(t plan.Task) plan.Task {
	t.When = slices.DeleteFunc(slices.Clone(t.When), func(c string) bool {
		return c == string(settings.EarlyExit) || c == string(settings.AffectedOnly)
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
