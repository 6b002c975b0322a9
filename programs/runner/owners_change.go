package runner

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
	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/owners/coverage"
	"github.com/app-sre/prcheck/owners/forge"
	"github.com/app-sre/prcheck/owners/members"
	"github.com/app-sre/prcheck/owners/review"
	"github.com/app-sre/prcheck/source"
)

// An ownersJob is a job that decides about a merge request.
type ownersJob struct {
	flags  ownersFlags
	env    cli.Env
	forge  *forge.Forge
	name   string // of the merge request
	commit string // of the job
	head   string // of the merge request; another one in a pipeline of merged results
	dir    string // of the repository
	open   source.Opener
	known  map[string]known // older versions, by their heads

	keeper  review.Keeper
	sources members.Sources
	silent  []members.Silence
	groups  map[string]group
}

// A known version has the differences of an older version, if they could be found.
type known struct {
	files []*coverage.File
	ok    bool
}

// hash matches the id of a commit.
var hash = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// before returns who may approve the differences of an older version of the merge request.
func (j *ownersJob) before(ctx context.Context, head string) ([]*coverage.File, bool) {
	if head == j.commit {
		return nil, false // it is at hand
	}
	if v, isKnown := j.known[head]; isKnown {
		return v.files, v.ok
	}
	var v known
	base, ok := j.forge.Base(head)
	if ok && hash.MatchString(base) && hash.MatchString(head) {
		var err error
		v.files, err = j.coverOlder(ctx, "git:"+base+"@"+j.dir, "git:"+head+"@"+j.dir)
		if v.ok = err == nil; err != nil {
			_, _ = fmt.Fprintf(j.env.Stderr, "note: what was said about the version %s counts for it alone: %s\n",
				git.Short(head), sanitize.Line(err.Error())) // the run goes on
		}
	}
	v.ok = v.ok || head == j.head // of merged results: what is at hand has another base
	j.known[head] = v
	return v.files, v.ok
}

func (j *ownersJob) coverOlder(ctx context.Context, base, head string) ([]*coverage.File, error) {
	if err := errors.Join(change.Reach(ctx, j.env, base), change.Reach(ctx, j.env, head)); err != nil {
		return nil, err
	}
	files, _, err := j.cover(ctx, base, head)
	if err == nil {
		_, err = j.sources.Join(ctx, files)
	}
	return files, err
}

// A group is the members of a group of the forge, or that there is none.
type group struct {
	members []string
	ok      bool
}

// group returns the members of a group. Each name is asked for once.
func (j *ownersJob) group(ctx context.Context, name string) ([]string, bool, error) {
	if g, isKnown := j.groups[name]; isKnown {
		return g.members, g.ok, nil
	}
	members, ok, err := j.forge.Client.GroupMembers(ctx, name)
	if err == nil {
		j.groups[name] = group{members, ok}
	}
	return members, ok, err
}

// cover returns who may approve the differences between two revisions, and what of the rules of head cannot be used.
func (j *ownersJob) cover(ctx context.Context, base, head string) ([]*coverage.File, []owners.Finding, error) {
	asked := j.open.Settings.Owners()
	in := owners.Input{Today: time.Now().UTC().Format(time.DateOnly),
		Unordered: content.Unordered{All: asked.IgnoresOrder, Fields: asked.Unordered},
		Groups:    func(name string) ([]string, bool, error) { return j.group(ctx, name) }}
	var err error
	if in.Base, in.Head, err = j.open.Pair(ctx, base, head); err != nil {
		return nil, nil, err
	}
	two := change.Two{Base: base, Head: head, InBase: in.Base, InHead: in.Head, Checkout: j.open.Settings.Checkout()}
	if in.Outside, in.ReadBase, err = two.Outside(ctx); err != nil {
		return nil, nil, err
	}
	if in.ReadBase == nil {
		return nil, nil, cli.Usage(errors.New("--base and --head are not of one repository"))
	}
	files, inHead, err := owners.Cover(in)
	return files, inHead, cli.Invalid(err)
}
