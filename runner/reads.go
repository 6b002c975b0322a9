package runner

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/internal/reads"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/place"
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
	why  string   // why the list does not hold everything; "" if it does
	used []string // files of the checkout that were opened or run
	// outside is a file of the checkout itself that was opened although the task started elsewhere.
	outside string
}

// note keeps what an attempt of a task read. It returns which of these files somebody else
// changed meanwhile, "" if nobody did. The files of a view cannot change.
func (r *readings) note(t plan.Task, at place.Place, rec reads.Record) (doubt string) {
	now := reading{at: at, why: rec.Partial, used: usedFiles(rec, at.Root)}
	if at.From != at.Root {
		elsewhere := usedFiles(rec, at.From)
		now.used = append(now.used, elsewhere...)
		if i := slices.IndexFunc(elsewhere, func(name string) bool { return at.World == nil || !at.World.IsOther(name) }); i >= 0 {
			now.outside = elsewhere[i]
		}
	}
	if at.World != nil {
		now.list, now.why = at.World.Of(rec, at.Root, at.From)
		if !at.IsView() {
			if name, isOther := at.World.ChangedOnDisk(now.list, at.Made, madeBy(rec, at.Root)); isOther {
				doubt = fmt.Sprintf("%q changed while it ran; run it again", name)
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		r.last = map[string]reading{}
	}
	r.last[t.ID] = now
	return doubt
}

// of returns what the last attempt of a task read; false if nothing was recorded.
func (r *readings) of(task string) (reading, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok := r.last[task]
	return found, ok
}

// madeBy returns a function that reports whether a task wrote a file below a root.
func madeBy(rec reads.Record, root string) func(path string) bool {
	wrote := map[string]bool{}
	for _, a := range rec.Accesses {
		if rel, err := filepath.Rel(root, a.Name); err == nil && a.Wrote {
			wrote[filepath.ToSlash(rel)] = true
		}
	}
	return func(path string) bool { return wrote[path] }
}

// usedFiles lists the files below a root that a task opened or ran, by their paths.
func usedFiles(rec reads.Record, root string) []string {
	var out []string
	for _, a := range rec.Accesses {
		rel, err := filepath.Rel(root, a.Name)
		if (a.Opened || a.Executed) && !a.MadeFirst && err == nil && filepath.IsLocal(rel) && rel != "." {
			out = append(out, filepath.ToSlash(rel))
		}
	}
	return out
}

// undeclared returns a file that a run on base opened or looked for in vain and that only head's
// checkout has, since git ignores or does not track it: then the run on base was another one. Why
// says that this is not known.
func (r *run) undeclared(t plan.Task) (name, why string) {
	if r.Places == nil || r.Places.Base == nil || r.Places.Others == nil || t.Native {
		return "", ""
	}
	others, err := r.Places.Others()
	if err != nil {
		return "", err.Error()
	}
	if len(others) == 0 {
		return "", ""
	}
	found, ok := r.readOnBase.of(t.ID)
	if !ok || found.why != "" {
		if found.why == "" {
			found.why = "its reads were not recorded"
		}
		return "", found.why
	}
	declared := r.Settings.Environment()
	for _, read := range found.list {
		if read.Found != "missing" || isAtOrBelow(read.Path, declared) || !isAtOrBelow(read.Path, others) {
			continue
		}
		return read.Path, ""
	}
	return "", ""
}

// isAtOrBelow reports whether a path is one of some files and folders, or lies below one.
func isAtOrBelow(path string, list []string) bool {
	return slices.ContainsFunc(list, func(o string) bool {
		o = strings.TrimSuffix(o, "/")
		return path == o || strings.HasPrefix(path, o+"/")
	})
}

// whyNotAsOnBase says why a run of a task on base cannot be compared after it was made, "" if it
// can.
func (r *run) whyNotAsOnBase(t plan.Task) string {
	if found, ok := r.readOnBase.of(t.ID); ok && found.outside != "" {
		return fmt.Sprintf("on base it opened %q in head's checkout, by its absolute path", found.outside)
	}
	switch name, why := r.undeclared(t); {
	case name != "":
		return fmt.Sprintf("on base it looked for %q, which git does not have and only head's checkout has; environment: in the settings gives it to base", name)
	case why != "":
		return "whether it needs files of head's checkout that git does not have is not known: " + why
	}
	return ""
}
