package runner

import (
	"context"
	"path/filepath"
	"slices"
	"sync"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/reads"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/place"
	"github.com/app-sre/prcheck/state/dependence"
	"github.com/app-sre/prcheck/state/files"
)

// A readings holds what the last attempts of tasks on one side read of the files of that side.
// The zero value is empty.
type readings struct {
	mu   sync.Mutex
	last map[string]reading // by task
}

// A reading is what one attempt read.
type reading struct {
	at   place.Place
	list files.List
	why  string // why the list does not hold everything; "" if it does
	used []string
}

// note keeps what an attempt of a task read.
func (r *readings) note(t plan.Task, at place.Place, rec reads.Record) {
	now := reading{at: at, why: rec.Partial, used: usedFiles(rec, at)}
	if at.World != nil {
		now.list, now.why = at.World.Of(rec, at.Root, at.From)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		r.last = map[string]reading{}
	}
	r.last[t.ID] = now
}

// of returns what the last attempt of a task read; false if nothing was recorded.
func (r *readings) of(task string) (reading, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok := r.last[task]
	return found, ok
}

// usedFiles lists the files of the checkout that a task opened or ran, by their paths.
func usedFiles(rec reads.Record, at place.Place) []string {
	var out []string
	for _, a := range rec.Accesses {
		if !a.Opened && !a.Executed || a.MadeFirst {
			continue
		}
		for _, root := range []string{at.Root, at.From} {
			if rel, err := filepath.Rel(root, a.Name); err == nil && filepath.IsLocal(rel) && rel != "." {
				out = append(out, filepath.ToSlash(rel))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// isRecorded reports whether the reads of a task are recorded.
func (r *run) isRecorded(t plan.Task) bool {
	return !t.Native && r.Settings.For(t.Integration).Reads != integration.ReadsNone
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
		if !ok || found.why != "" || found.at.World == nil || r.hasSecret(found.list) {
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

// allFiles returns the id for a task that was not recorded.
func (r *run) allFiles(t plan.Task) files.ID {
	programs := r.Settings.For(t.Integration).Programs
	if programs.None || programs.Globs != nil || r.Programs == nil {
		return files.Declared
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
		if found, ok := r.read.of(runs[i].Task); ok {
			runs[i].Beyond.Files = found.list.Paths()
		}
	}
	return runs
}
