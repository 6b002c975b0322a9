package change

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/planner/rules"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/files"
)

// A fileEvidence compares what earlier runs read with head's files.
type fileEvidence struct {
	ctx      context.Context //nolint:containedctx // of the one plan that asks
	lists    files.Store
	world    func() (*files.World, error) // nil if head has no files
	programs func(settings.Programs) (string, error)
	settings *settings.Settings
	edits    rules.Edits

	mu    sync.Mutex
	known map[[2]string]string // by integration and id
}

// newFileEvidence returns the evidence that a state has.
func newFileEvidence(ctx context.Context, in state.Store, w Worlds, programs func(settings.Programs) (string, error),
	s *settings.Settings) *fileEvidence {
	e := &fileEvidence{ctx: ctx, lists: files.NewStore(in), programs: programs, settings: s, known: map[[2]string]string{}}
	if w.Head != nil {
		e.world = sync.OnceValues(w.HeadWorld)
	}
	return e
}

// Same reports whether the files that a run of an integration read are the same on head.
func (e *fileEvidence) Same(integration, read string) bool { return e.Changed(integration, read) == "" }

// Changed says which file that a run of an integration read is another one on head, or why that
// is not known; "" if all are the same.
func (e *fileEvidence) Changed(integration, read string) string {
	key := [2]string{integration, read}
	e.mu.Lock()
	defer e.mu.Unlock()
	why, ok := e.known[key]
	if !ok {
		why = e.changed(integration, files.ID(read))
		if e.ctx.Err() == nil {
			e.known[key] = why
		}
	}
	return why
}

func (e *fileEvidence) changed(name string, id files.ID) string {
	if !id.IsRecorded() {
		return e.changedUnrecorded(name, id)
	}
	if e.world == nil {
		return "head has no files to compare with those that it read"
	}
	list, err := e.lists.Load(e.ctx, name, id)
	if err != nil {
		return "the list of the files that it read cannot be used: " + err.Error()
	}
	w, err := e.world()
	if err != nil {
		return "head's files cannot be read: " + err.Error()
	}
	if path, isOther := w.Changed(list); isOther {
		return fmt.Sprintf("it read %q, which is another one now", path)
	}
	return ""
}

// changedUnrecorded is changed for a run that nobody recorded. It is believed that it read what the
// settings declare, or all files. That does not show that it reads nothing of
// what head edits.
func (e *fileEvidence) changedUnrecorded(name string, id files.ID) string {
	programs := e.settings.For(name).Programs
	areDeclared := programs.None || programs.Globs != nil
	was, isAll := id.AllDigest()
	switch {
	case e.edits.Of != nil && len(e.edits.Of(name)) > 0:
		return "head edits a file that its command may use, and nobody recorded which files it read"
	case id == files.Declared && !areDeclared:
		return "the settings no longer declare which files its command may use, and nobody recorded which files it read"
	case id == files.Declared:
		return ""
	case !isAll:
		return "it is not known which files it read"
	}
	switch now, err := e.programs(programs); {
	case err != nil:
		return "the files that its command may use are not known: " + err.Error()
	case now != was || areDeclared:
		return "a file that its command may use is another one, and nobody recorded which files it reads"
	}
	return ""
}

// replay gives a proof what it compares files with.
type replay struct {
	*fileEvidence
	at func() (rules.Workplace, error)
}

// Reads implements [proof.Files].
func (r replay) Reads(integration, id string) ([]proof.FileRead, error) {
	list, err := r.lists.Load(r.ctx, integration, files.ID(id))
	out := make([]proof.FileRead, len(list))
	for i, f := range list {
		out[i] = proof.FileRead(f)
	}
	return out, err
}

// Head implements [proof.Files].
func (r replay) Head() (byPath map[string]string, commit string, err error) {
	if r.world == nil {
		return nil, "", errors.New("head has no files")
	}
	w, err := r.world()
	if err != nil {
		return nil, "", err
	}
	byPath = map[string]string{}
	for _, f := range w.Tree.Files() {
		byPath[f.Path] = f.Mode + " " + f.ID
	}
	return byPath, w.Tree.Commit(), nil
}

// Beside implements [proof.Files].
func (r replay) Beside(name string, lists bool) (found string, is bool) {
	w, err := r.world()
	if err != nil || !w.IsOther(name) {
		return "", false
	}
	return w.Found(name, lists), true
}

// BesideIn implements [proof.Files].
func (r replay) BesideIn(folder string) []string {
	w, err := r.world()
	if err != nil {
		return nil
	}
	return w.OthersIn(folder)
}

// All implements [proof.Files].
func (r replay) All(integration string) ([]proof.FileRead, error) {
	at, err := r.at()
	if err != nil {
		return nil, err
	}
	selected, err := at.Selected()(r.settings.For(integration).Programs)
	out := make([]proof.FileRead, len(selected))
	for i, f := range selected {
		out[i] = proof.FileRead{Path: f.Path, Found: f.ID}
	}
	return out, err
}
