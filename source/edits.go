package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/planner"
)

// An editor finds out what head edits of the rules that it is planned by.
type editor struct {
	rules   Rules
	root    string // of the checkout
	base    *git.Commit
	head    string          // the commit, "" for the working tree
	changed map[string]bool // paths of the repository
	all     []string        // what concerns every integration
	theirs  *integration.Settings
	notes   []string
}

// edits tells what head edits of the rules that it is planned by. They are
// looked for where the rules are those of base: when they come from a revision,
// and in a job of GitLab.
func (in Inputs) edits(ctx context.Context, rules Rules, head *bundle.Bundle) (planner.Edits, error) {
	if rules.repo == nil && !in.gitlab {
		return planner.Edits{}, nil
	}
	e := editor{rules: rules, changed: map[string]bool{}}
	known, err := e.compare(ctx, in)
	if err != nil {
		if ctx.Err() == nil {
			err = cli.Invalid(err)
		}
		return planner.Edits{}, err
	}
	if !known {
		return planner.Edits{Notes: []string{"whether head edits the rules that it is planned by is not known, since base and head are not both of one checkout"}}, nil
	}
	e.settings(ctx)
	e.merged(ctx, head)
	e.ciFiles(ctx, in.ciConfig)
	return planner.Edits{Notes: e.notes, Of: e.of}, nil
}

// compare lists the changed paths, if both sides are of one checkout.
func (e *editor) compare(ctx context.Context, in Inputs) (known bool, err error) {
	if !IsCheckout(in.Base) || !IsCheckout(in.Head) || strings.HasPrefix(in.Base, "dir:") {
		return false, nil
	}
	rev, dir := revision(strings.TrimPrefix(in.Base, "git:"))
	if e.base, err = git.OpenCommit(ctx, dir, rev); err != nil {
		return false, err
	}
	repo, err := git.FindRepository(ctx, dir)
	if err != nil {
		return false, err
	}
	where, ok := strings.CutPrefix(in.Head, "dir:")
	if !ok {
		rev, where = revision(strings.TrimPrefix(in.Head, "git:"))
		head, err := git.OpenCommit(ctx, where, rev)
		if err != nil {
			return false, err
		}
		e.head = head.Hash()
	}
	other, err := git.FindRepository(ctx, where)
	if err != nil || other.Root() != repo.Root() || e.rules.repo != nil && e.rules.repo.Root() != repo.Root() {
		return false, ctx.Err()
	}
	e.root = repo.Root()
	paths, err := repo.ChangedPaths(ctx, e.base.Hash(), e.head)
	for _, p := range paths {
		e.changed[p] = true
	}
	return err == nil, err
}

func (e *editor) say(format string, args ...any) {
	e.notes = append(e.notes, fmt.Sprintf(format, args...))
}

// settings reads what head makes of the settings.
func (e *editor) settings(ctx context.Context) {
	r := e.rules
	if r.repo == nil {
		return
	}
	if r.missing {
		e.say("base %s has no %s, so nothing can be started: what must run is reported as not run; until it is merged, give settings from outside of the repository with --config FILE", short(r.commit), r.path)
	}
	raw, err := e.read(ctx, r.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if !r.missing {
			e.say("head removes %s: the plan follows base's, and everything runs in full", r.path)
			e.all = append(e.all, r.path+", which head removes")
		}
		return
	case err == nil && r.missing:
		e.all = append(e.all, r.path+", which head adds")
		return
	case err == nil:
		e.theirs, err = integration.ReadSettings(r.path, raw)
	}
	switch {
	case err != nil:
		e.theirs = nil
		first, _, _ := strings.Cut(err.Error(), "\n")
		e.say("head's %s cannot be read, so everything runs in full by base's: %s", r.path, first)
		e.all = append(e.all, r.path+", which cannot be read on head")
	case e.theirs.Digest() != r.Digest():
		e.say("head edits %s: the plan follows base's, and what the edit concerns runs in full", r.path)
	}
}

// merged notes when no plan could be made any more once head is merged.
func (e *editor) merged(ctx context.Context, head *bundle.Bundle) {
	if e.theirs == nil {
		return
	}
	err := planner.Check(planner.Input{
		Base: head, Head: head, Settings: e.theirs, Natives: Natives(),
		ReadQuery: func(name string) ([]byte, error) { return e.read(ctx, path.Join(path.Dir(e.rules.path), name)) },
	})
	if err != nil && ctx.Err() == nil {
		e.say("once head is merged no plan can be made: %v", err)
		e.all = append(e.all, e.rules.path+", with which no plan can be made on head")
	}
}

// read reads a file of head.
func (e *editor) read(ctx context.Context, name string) ([]byte, error) {
	if e.head != "" {
		g, err := git.OpenCommit(ctx, e.root, e.head)
		if err != nil {
			return nil, err
		}
		return g.ReadFile(ctx, name, integration.MaxSettings)
	}
	root, err := os.OpenRoot(e.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, integration.MaxSettings+1))
}

// maxCIFiles bounds how many changed CI files are named.
const maxCIFiles = 5

// ciFiles notes the CI files that head edits. They cannot change what is
// planned, but whether anything is.
func (e *editor) ciFiles(ctx context.Context, own string) {
	named := e.namedByCI(ctx, cmp.Or(own, usualCI))
	var edited []string
	for p := range e.changed {
		if p == own || named[p] || e.rules.IsCIFile(p) || e.theirs != nil && e.theirs.IsCIFile(p) {
			edited = append(edited, shown(p))
		}
	}
	if len(edited) == 0 {
		return
	}
	slices.Sort(edited)
	e.all = append(e.all, edited[0])
	if n := len(edited) - maxCIFiles; n > 0 {
		edited = append(edited[:maxCIFiles], fmt.Sprintf("%d more", n))
	}
	e.say("head edits %s, which decides whether and how these checks are started: read that edit before you trust the result; everything runs in full", strings.Join(edited, ", "))
}

// usualCI is the CI file of a project that names none.
const usualCI = ".gitlab-ci.yml"

// namedByCI are the files whose names stand in base's CI file: what it includes
// and what its jobs start. It need not be read as GitLab would: a name too many
// runs too much.
func (e *editor) namedByCI(ctx context.Context, name string) map[string]bool {
	raw, err := e.base.ReadFile(ctx, name, integration.MaxSettings)
	if err != nil {
		return nil
	}
	named := map[string]bool{}
	for word := range strings.FieldsFuncSeq(string(raw), func(c rune) bool {
		return !strings.ContainsRune("/._-+@~", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	}) {
		named[strings.TrimPrefix(path.Clean("/"+word), "/")] = true
	}
	delete(named, e.rules.path) // which is compared key by key
	return named
}

// shown is a path of head as it can stand in a sentence.
func shown(p string) string {
	if quoted := strconv.Quote(p); quoted != `"`+p+`"` || strings.Contains(p, ", ") {
		return quoted
	}
	return p
}

// of lists what concerns one integration.
func (e *editor) of(name string) []string {
	out := slices.Clone(e.all)
	if e.theirs != nil {
		for _, key := range e.rules.DifferingKeys(e.theirs, name) {
			out = append(out, key+" in "+e.rules.path)
		}
	}
	it := e.rules.For(name)
	for _, q := range it.Queries {
		if p := path.Join(path.Dir(e.rules.path), q.Path); e.rules.repo != nil && e.changed[p] {
			out = append(out, shown(p))
		}
	}
	for _, word := range it.Exec.Argv {
		if p, ok := e.program(strings.ReplaceAll(word, "{name}", name)); ok {
			out = append(out, shown(p)+", which starts it as head has it")
		}
	}
	return out
}

// program is the changed file of the repository that a word of a command names, or
// a changed one in the folder that it names.
func (e *editor) program(word string) (string, bool) {
	if !filepath.IsAbs(word) {
		word = filepath.Join(Folder(e.rules.Settings), filepath.FromSlash(word))
	}
	p, ok := git.PathIn(e.root, word)
	if !ok || e.changed[p] || p == "." {
		return p, ok && e.changed[p]
	}
	for _, changed := range slices.Sorted(maps.Keys(e.changed)) {
		if strings.HasPrefix(changed, p+"/") {
			return changed, true
		}
	}
	return "", false
}
