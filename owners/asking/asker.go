package asking

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/owners"
	"github.com/app-sre/prcheck/owners/approvals"
	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/owners/coverage"
	"github.com/app-sre/prcheck/owners/members"
	"github.com/app-sre/prcheck/owners/review"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
)

// A Forge is a merge request as decisions need it.
type Forge interface {
	review.Forge
	// Base returns the commit that a version starts from, as it was read last.
	Base(head string) (commit string, ok bool)
	// Members returns the members of a group, and whether there is such a group.
	Members(ctx context.Context, group string) (names []string, ok bool, err error)
}

// A Place is where things are that a decision is made of.
type Place struct {
	Env   cli.Env
	Forge Forge
	Open  source.Opener // by the settings of base
	Dir   string        // of the repository that has the versions of the merge request
	State state.Store   // keeps what was approved; nil keeps nothing
	Name  string        // of the merge request in the state
	Head  string        // of the merge request
	// Commit is what the files are of, if that is not the head: a merged result, or a head that was rebased.
	Commit       string
	IgnoreAuthor bool
	// Fetch gets a revision that the repository may lack; nil is for a repository that has all.
	Fetch func(ctx context.Context, ref string) error
}

// An Asker opens what a decision is made of.
type Asker struct {
	at      Place
	keeper  review.Keeper
	sources members.Sources
	groups  map[string]group
	known   map[string]known // older versions, by their heads
	silent  []members.Silence
}

// Silent returns the sources of members that did not answer.
func (a *Asker) Silent() []members.Silence { return a.silent }

// New returns an asker for a merge request.
func New(at Place) *Asker {
	warn := func(err error) {
		_, _ = fmt.Fprintln(at.Env.Stderr, "warning: "+sanitize.Line(err.Error())) // the run goes on
	}
	a := &Asker{at: at, keeper: forgetful{}, groups: map[string]group{}, known: map[string]known{},
		sources: members.Sources{State: at.State, Now: time.Now, Warn: warn,
			Authorization: func(provider string) string { return at.Env.Getenv(members.Variable(provider)) }}}
	if at.State != nil {
		a.keeper = approvals.NewStore(at.State, at.Name, warn)
	}
	return a
}

// Input returns the input of a decision about the differences between two revisions, and what of the rules of head
// cannot be used.
func (a *Asker) Input(ctx context.Context, base, head string) (review.Input, []owners.Finding, error) {
	files, inHead, err := a.cover(ctx, base, head)
	if err != nil || len(inHead) > 0 {
		return review.Input{}, inHead, err
	}
	a.silent, err = a.sources.Join(ctx, files)
	in := review.Input{Forge: a.at.Forge, Keeper: a.keeper, Head: a.at.Head, Files: files,
		Before:       func(head string) ([]*coverage.File, bool) { return a.before(ctx, head) },
		IgnoreAuthor: a.at.IgnoreAuthor, CountsEdits: a.at.Open.Settings.Owners().CountsEdits}
	for _, s := range a.silent {
		in.Silent = append(in.Silent, s.String())
	}
	return in, nil, err
}

// A known version has the differences of an older version, if they could be found.
type known struct {
	files []*coverage.File
	ok    bool
}

// hash matches the id of a commit.
var hash = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// before returns who may approve the differences of an older version of the merge request.
func (a *Asker) before(ctx context.Context, head string) ([]*coverage.File, bool) {
	if head == a.at.Commit {
		return nil, false // it is at hand
	}
	if v, isKnown := a.known[head]; isKnown {
		return v.files, v.ok
	}
	var v known
	base, ok := a.at.Forge.Base(head)
	if ok && hash.MatchString(base) && hash.MatchString(head) {
		var err error
		v.files, err = a.coverOlder(ctx, "git:"+base+"@"+a.at.Dir, "git:"+head+"@"+a.at.Dir)
		if v.ok = err == nil; err != nil {
			_, _ = fmt.Fprintf(a.at.Env.Stderr, "note: what was said about the version %s counts for it alone: %s\n",
				git.Short(head), sanitize.Line(err.Error())) // the run goes on
		}
	}
	v.ok = v.ok || head == a.at.Head // of merged results: what is at hand has another base
	a.known[head] = v
	return v.files, v.ok
}

func (a *Asker) coverOlder(ctx context.Context, base, head string) ([]*coverage.File, error) {
	if a.at.Fetch != nil {
		if err := errors.Join(a.at.Fetch(ctx, base), a.at.Fetch(ctx, head)); err != nil {
			return nil, err
		}
	}
	files, _, err := a.cover(ctx, base, head)
	a.sources.Recall(files) // the rules are those of the older version: only base's own may say who is asked
	return files, err
}

// A group is the members of a group of the forge, or that there is none.
type group struct {
	members []string
	ok      bool
}

// group returns the members of a group. Each name is asked for once.
func (a *Asker) group(ctx context.Context, name string) ([]string, bool, error) {
	if g, isKnown := a.groups[name]; isKnown {
		return g.members, g.ok, nil
	}
	names, ok, err := a.at.Forge.Members(ctx, name)
	if err == nil {
		a.groups[name] = group{names, ok}
	}
	return names, ok, err
}

// cover returns who may approve the differences between two revisions, and what of the rules of head cannot be used.
func (a *Asker) cover(ctx context.Context, base, head string) ([]*coverage.File, []owners.Finding, error) {
	asked := a.at.Open.Settings.Owners()
	in := owners.Input{Today: time.Now().UTC().Format(time.DateOnly),
		Unordered: content.Unordered{All: asked.IgnoresOrder, Fields: asked.Unordered},
		Groups:    func(name string) ([]string, bool, error) { return a.group(ctx, name) }}
	var err error
	if in.Base, in.Head, err = a.at.Open.Pair(ctx, base, head); err != nil {
		return nil, nil, err
	}
	two := change.Two{Base: base, Head: head, InBase: in.Base, InHead: in.Head, Checkout: a.at.Open.Settings.Checkout()}
	if in.Outside, in.ReadBase, err = two.Outside(ctx); err != nil {
		return nil, nil, err
	}
	if in.ReadBase == nil {
		return nil, nil, cli.Usage(errors.New("--base and --head are not of one repository"))
	}
	files, inHead, err := owners.Cover(in)
	return files, inHead, cli.Invalid(err)
}

// A forgetful keeper keeps nothing.
type forgetful struct{}

func (forgetful) Load(context.Context) (approvals.Book, error) { return approvals.Book{}, nil }
func (forgetful) Save(context.Context, approvals.Book) error   { return nil }
