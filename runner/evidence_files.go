package runner

import (
	"context"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state/dependence"
	"github.com/app-sre/prcheck/state/files"
	"github.com/app-sre/prcheck/world"
)

// isRecorded reports whether the reads of a task are recorded.
func (r *run) isRecorded(t plan.Task) bool {
	return !t.Native && r.Settings.For(t.Integration).Reads != settings.ReadsNone
}

// readIDs returns the ids of what tasks read, by task, and writes the lists to the state. A task
// that could not be recorded counts as having read every file, or those that the settings
// declare.
func (r *run) readIDs(ctx context.Context, results []plan.Result) (ids map[string]files.ID, errs []error) {
	ids = map[string]files.ID{}
	store := files.NewStore(r.State)
	for i, t := range r.Plan.Tasks {
		if i >= len(results) || results[i].Attempts == 0 || t.Native || r.isResumed(t.ID) {
			continue
		}
		found, ok := r.read.of(t.ID)
		if !ok || found.why != "" || found.at.World == nil || r.hasSecret(found.list) || r.isPrepared(t) {
			ids[t.ID] = r.allFiles(t)
			continue
		}
		id, err := store.Save(ctx, t.Integration, found.list)
		if err != nil {
			errs = append(errs, err)
		}
		ids[t.ID] = id
	}
	return ids, errs
}

// hasSecret reports whether a name of a list contains a secret. Such a list is not remembered.
func (r *run) hasSecret(l files.List) bool {
	return slices.ContainsFunc(l, func(f files.Read) bool { return r.masker.Text(f.Path) != f.Path })
}

// isPrepared reports whether a command prepares the files of a task. Nobody records its reads, so they count only
// if the settings list the files.
func (r *run) isPrepared(t plan.Task) bool {
	return len(r.Settings.Prepare()) > 0 && r.Settings.For(t.Integration).Programs.Globs == nil
}

// allFiles returns the id for a task that was not recorded.
func (r *run) allFiles(t plan.Task) files.ID {
	programs := r.Settings.For(t.Integration).Programs
	if r.isPrepared(t) {
		programs = settings.Programs{}
	}
	switch {
	case programs.None || programs.Globs != nil:
		return files.Declared
	case r.Programs == nil:
		return "" // nobody knows
	}
	digest, err := r.Programs(programs)
	if err != nil {
		return "" // nobody knows
	}
	return files.All(digest)
}

// treeOfHead returns the id of head's files, "" if they are not known.
func (r *run) treeOfHead() string {
	if r.Places.Head == nil {
		return ""
	}
	tree, err := r.Places.Head()
	if err != nil {
		return ""
	}
	return tree.ID()
}

// withReads adds to runs the files that were read.
func (r *run) withReads(runs []dependence.Run, ids map[string]files.ID) []dependence.Run {
	for i := range runs {
		runs[i].Read = string(ids[runs[i].Task])
		d, _ := r.Plan.Decision(runs[i].Integration)
		t, _ := r.Plan.Task(runs[i].Task)
		// else they are those of head's program, or not all
		if found, ok := r.read.of(t.ID); ok && len(d.Evidence.Edited) == 0 && !r.isPrepared(t) {
			runs[i].Beyond.Files = found.list.Paths()
		}
	}
	return runs
}

// refutedPromises returns a warning for each integration whose settings say that it uses no file
// of the repository, and that opened one.
func (r *run) refutedPromises() []string {
	var out []string
	told := map[string]bool{}
	for _, t := range r.Plan.Tasks {
		found, ok := r.read.of(t.ID)
		if !ok || found.at.World == nil || told[t.Integration] || !r.Settings.For(t.Integration).Programs.None {
			continue
		}
		i := slices.IndexFunc(found.used, func(name string) bool {
			_, kind, ok := found.at.World.Tree.Lookup(name)
			return ok && kind == world.Regular
		})
		if i >= 0 {
			told[t.Integration] = true
			out = append(out,
				fmt.Sprintf("%q uses files of the repository, although its settings say programs: none: it opened %q",
					t.Integration, found.used[i]))
		}
	}
	return out
}
