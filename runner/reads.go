package runner

import (
	"context"
	"fmt"
	"path"
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
	// beside is a file that was opened in the folder of the tasks, which lies outside of the checkout.
	beside string
}

// note keeps what an attempt of a task read. It returns which of these files somebody else
// changed meanwhile, "" if nobody did. Of a view only the files can change that git ignores.
func (r *readings) note(t plan.Task, at place.Place, rec reads.Record) (doubt string) {
	now := reading{at: at, why: rec.Partial, used: usedFiles(rec, at.Root)}
	if at.From != at.Root {
		elsewhere := usedFiles(rec, at.From)
		now.used = append(now.used, elsewhere...)
		if i := slices.IndexFunc(elsewhere, func(name string) bool {
			return at.World == nil || !at.World.IsOther(name)
		}); i >= 0 {
			now.outside = elsewhere[i]
		}
	}
	if at.Outside != "" {
		for _, name := range usedFiles(rec, at.Outside) {
			if !isAtOrBelow(filepath.Join(at.Outside, name), []string{at.Root, at.From}) {
				now.beside = name
			}
		}
	}
	if at.World != nil {
		run := files.RunOf(rec, at.Root, at.From)
		run.Since, run.InPlace = at.Made, !at.IsView()
		now.list, now.why = at.World.Of(run)
		if name, isOther := at.World.ChangedMeanwhile(now.list, run); isOther {
			doubt = fmt.Sprintf("%q changed while it ran; run it again", name)
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

// doubtUnrecorded takes the passes from tasks that started in the checkout itself and of which nothing
// was recorded, if a file of head is another one there now: nobody knows what they read.
func (r *run) doubtUnrecorded(results []plan.Result) {
	if r.Places == nil || r.Places.Head == nil || !r.Places.InPlace {
		return
	}
	changed := sync.OnceValue(func() string {
		w, err := r.Places.HeadWorld()
		if err != nil {
			return "a file"
		}
		return w.FirstChanged(r.began)
	})
	for i, t := range r.Plan.Tasks {
		if i >= len(results) || !results[i].OK() || results[i].Attempts == 0 || r.isResumed(t.ID) || t.Native {
			continue
		}
		if found, ok := r.read.of(t.ID); ok && found.why == "" || r.Settings.For(t.Integration).Programs.None {
			continue
		}
		if name := changed(); name != "" {
			results[i].Status, results[i].Class = plan.NotRun, plan.ClassEnvironment
			results[i].Reason = fmt.Sprintf("its run counts for nothing: %q changed meanwhile, and nobody recorded what it "+
				"reads; run it again", name)
		}
	}
}

// An undeclared is a file that git ignores, that the settings do not give to base, and that a run on
// base could have needed.
type undeclared struct {
	path    string
	onHead  bool // head's checkout has it
	isNamed bool // the run on base listed the folder of the file, and did not look for the file itself
}

// String says what the run on base did.
func (u undeclared) String() string {
	switch {
	case u.isNamed:
		return fmt.Sprintf("on base it listed the folder of %q, which git does not have and only head's checkout has; "+
			"environment: in the settings gives it to base", u.path)
	case u.onHead:
		return fmt.Sprintf("on base it looked for %q, which git does not have and only head's checkout has; environment: "+
			"in the settings gives it to base", u.path)
	}
	return fmt.Sprintf("on base it looked for %q, which git ignores, so that nobody knows whether base has it; "+
		"environment: in the settings says that both sides have the same", u.path)
}

// findUndeclared returns a file that a run of a task on base could have needed, and that base has
// only if a build made it, which is not known; nil if there is none. Such a run was another one than
// that of base. Why says that nobody can tell.
func (r *run) findUndeclared(ctx context.Context, t plan.Task) (found *undeclared, why string) {
	if r.Places == nil || r.Places.Base == nil || r.Places.Others == nil || t.Native {
		return nil, ""
	}
	others, err := r.Places.Others()
	if err != nil {
		return nil, err.Error()
	}
	onBase, ok := r.readOnBase.of(t.ID)
	switch {
	case !ok && len(others) > 0:
		return nil, "its reads were not recorded"
	case onBase.why != "" && len(others) > 0:
		return nil, onBase.why
	}
	declared := r.Settings.Environment()
	var missing []string
	for _, read := range onBase.list {
		switch {
		case isAtOrBelow(read.Path, declared):
		case read.Lists:
			if name := r.hiddenFrom(onBase, read.Path, t, others, declared); name != "" {
				return &undeclared{path: name, onHead: true, isNamed: true}, ""
			}
		case read.Found != "missing":
		case isAtOrBelow(read.Path, others):
			return &undeclared{path: read.Path, onHead: true}, ""
		default:
			missing = append(missing, read.Path)
		}
	}
	if r.Places.Prepared { // what it did not make is not there
		return nil, ""
	}
	ignored, err := onBase.at.Ignored(ctx, missing)
	switch {
	case err != nil:
		return nil, err.Error()
	case len(ignored) > 0:
		return &undeclared{path: ignored[0]}, ""
	}
	return nil, ""
}

// hiddenFrom returns a file that head's checkout has below a folder which a run on base listed, that
// the run did not find there, and that the task used on head, or may have used; "" if there is none.
func (r *run) hiddenFrom(onBase reading, folder string, t plan.Task, others, declared []string) string {
	onHead, ok := r.read.of(t.ID)
	for _, o := range others {
		name := strings.TrimSuffix(o, "/")
		rest, inside := strings.CutPrefix(name, folder+"/")
		if folder == "." {
			rest, inside = name, true
		}
		if !inside || isAtOrBelow(name, declared) {
			continue
		}
		first, _, _ := strings.Cut(rest, "/")
		if onBase.at.World.Found(path.Join(folder, first), false) != "missing" {
			continue
		}
		isUsed := func(read files.Read) bool { return isAtOrBelow(read.Path, []string{name}) }
		if !ok || onHead.why != "" || slices.ContainsFunc(onHead.list, isUsed) {
			return name
		}
	}
	return ""
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
func (r *run) whyNotAsOnBase(ctx context.Context, t plan.Task) string {
	onBase, ok := r.readOnBase.of(t.ID)
	switch {
	case onBase.outside != "":
		return fmt.Sprintf("on base it opened %q in head's checkout, by its absolute path", onBase.outside)
	case onBase.beside != "" && r.Places.OfJob:
		return fmt.Sprintf("on base it opened %q in the folder of the settings, which the job may have made of head's files",
			onBase.beside)
	case (!ok || onBase.why != "") && r.Places.MayBeOfHead() && r.usesFiles(t):
		return "whether it uses files in the folder of the settings, which the job may have made of head's files, is " +
			"not known"
	}
	switch found, why := r.findUndeclared(ctx, t); {
	case found != nil:
		return found.String()
	case why != "":
		return "whether it needs files of head's checkout that git does not have is not known: " + why
	}
	return ""
}
