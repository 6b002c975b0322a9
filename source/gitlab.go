package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
)

// In a job of GitLab a change is compared as the variables of the job name it.
// Only there is the network used, to fetch a commit that a shallow clone lacks.

// commitID is the hash of a commit, as GitLab writes it.
var commitID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// A job is what its variables say about the change.
type job struct {
	head, base string
	why        string // which variable named the base
	target     string // the branch whose merge base is the base, when no variable names it
}

// InJob tells whether this is a job of GitLab.
func InJob(getenv func(string) string) bool { return getenv != nil && getenv("GITLAB_CI") == "true" }

// jobOf reads the variables of a job.
func jobOf(getenv func(string) string) (job, error) {
	j := job{head: getenv("CI_COMMIT_SHA")}
	request := getenv("CI_MERGE_REQUEST_IID") != ""
	names := []string{"CI_COMMIT_BEFORE_SHA"}
	if request {
		names = []string{"CI_MERGE_REQUEST_TARGET_BRANCH_SHA", "CI_MERGE_REQUEST_DIFF_BASE_SHA"}
	}
	for _, name := range names {
		if sha := getenv(name); j.base == "" && strings.Trim(sha, "0") != "" {
			j.base, j.why = sha, name
		}
	}
	if !commitID.MatchString(j.head) {
		return j, fmt.Errorf("CI_COMMIT_SHA is %q, which is no commit: name the change with --base and --head", j.head)
	}
	switch {
	case j.base != "" && !commitID.MatchString(j.base):
		return j, fmt.Errorf("%s is %q, which is no commit: name the change with --base and --head", j.why, j.base)
	case j.base != "":
		return j, nil
	case request:
		return j, errors.New("neither CI_MERGE_REQUEST_TARGET_BRANCH_SHA nor CI_MERGE_REQUEST_DIFF_BASE_SHA says what the merge request starts from: name it with --base and --head")
	}
	if j.target = getenv("CI_DEFAULT_BRANCH"); j.target == "" {
		return j, errors.New("neither CI_COMMIT_BEFORE_SHA nor CI_DEFAULT_BRANCH says what was before the push: name it with --base and --head")
	}
	j.why = "where it left the branch " + j.target
	return j, nil
}

// Complete fills in what was not said where a job of GitLab says it. What is
// compared may have been said: the rules are base's all the same.
func (in Inputs) Complete(ctx context.Context, env cli.Env) (Inputs, error) {
	switch {
	case !InJob(env.Getenv):
		return in, nil
	case in.Base == "" && in.Head == "":
		return in.InGitLab(ctx, env, ".")
	case !strings.HasPrefix(in.Base, "git:") || !IsCheckout(in.Head):
		return in, nil
	}
	for _, ref := range []string{in.Base, in.Head} {
		if err := Reach(ctx, env, ref); err != nil {
			return in, err
		}
	}
	rev, dir := revision(strings.TrimPrefix(in.Base, "git:"))
	base, err := git.OpenCommit(ctx, dir, rev)
	if err != nil {
		return in, cli.Invalid(fmt.Errorf("reference %q: %w", in.Base, err))
	}
	head := "HEAD"
	if strings.HasPrefix(in.Head, "git:") {
		rev, where := revision(strings.TrimPrefix(in.Head, "git:"))
		g, err := git.OpenCommit(ctx, where, rev)
		if err != nil {
			return in, cli.Invalid(fmt.Errorf("reference %q: %w", in.Head, err))
		}
		head = g.Hash()
	}
	repo, err := git.FindRepository(ctx, dir)
	if err != nil {
		return in, cli.Invalid(err)
	}
	in.ciConfig, in.gitlab = ciConfig(env.Getenv), true
	in.Config, err = jobConfig(ctx, repo, job{base: base.Hash(), head: head}, in.Config)
	return in, cli.Invalid(err)
}

// InGitLab fills in what the variables of the job say: head is the commit of the
// job, base what it is to be merged into, and the settings are those of base. It
// says in one line what is compared.
func (in Inputs) InGitLab(ctx context.Context, env cli.Env, dir string) (Inputs, error) {
	j, err := jobOf(env.Getenv)
	if err != nil {
		return in, cli.Invalid(err)
	}
	repo, err := git.FindRepository(ctx, dir)
	if err != nil {
		return in, cli.Invalid(err)
	}
	if err := j.find(ctx, repo); err != nil {
		if ctx.Err() != nil {
			return in, ctx.Err()
		}
		return in, cli.Invalid(err)
	}
	at := Place(repo)
	in.Base, in.BaseName = "git:"+j.base+at, "git:"+j.base
	in.Head, in.HeadName = "git:"+j.head+at, "git:"+j.head
	in.ciConfig, in.gitlab = ciConfig(env.Getenv), true
	if in.Config, err = jobConfig(ctx, repo, j, in.Config); err != nil {
		return in, cli.Invalid(err)
	}
	_, _ = fmt.Fprintf(env.Stderr, "note: comparing %s (CI_COMMIT_SHA) with %s (%s), settings %s\n",
		short(j.head), short(j.base), j.why, in.Config) // only a note
	return in, nil
}

// find makes both commits be there.
func (j *job) find(ctx context.Context, repo *git.Repository) error {
	commit, _, err := repo.Head(ctx)
	switch {
	case err != nil:
		return err
	case commit != j.head:
		return fmt.Errorf("the job has %s checked out, and not %s, its CI_COMMIT_SHA: name the change with --base and --head", short(commit), short(j.head))
	case j.base != "":
		return fetched(ctx, repo, j.base, j.why)
	case repo.IsShallow(ctx): // whose merge base may be another than the true one
		return fmt.Errorf("the clone is shallow, so it does not tell where the branch left %s: set GIT_DEPTH: 0 for the job", j.target)
	}
	if j.base, err = repo.MergeBase(ctx, "refs/remotes/origin/"+j.target); j.base == j.head {
		j.why = "it is on the branch " + j.target + " already, so nothing differs"
	}
	return err
}

// fetched makes a commit be there, from the remote if need be.
func fetched(ctx context.Context, repo *git.Repository, commit, what string) error {
	if repo.HasCommit(ctx, commit) {
		return nil
	}
	err := repo.Fetch(ctx, commit)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("the clone lacks the commit %s (%s): %w; set GIT_DEPTH: 0 for the job, or fetch it first", short(commit), what, err)
}

// Reach makes the commit of a reference be there when a job of GitLab names it
// by its hash.
func Reach(ctx context.Context, env cli.Env, ref string) error {
	rev, dir := revision(strings.TrimPrefix(ref, "git:"))
	if !InJob(env.Getenv) || !strings.HasPrefix(ref, "git:") || !commitID.MatchString(rev) {
		return nil
	}
	repo, err := git.FindRepository(ctx, dir)
	if err == nil {
		err = fetched(ctx, repo, rev, ref)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return cli.Invalid(err)
}

// jobConfig is where the settings come from: a file of the checkout is taken
// from base, since head may have changed it. One that neither side has was put
// there by the job.
func jobConfig(ctx context.Context, repo *git.Repository, j job, name string) (string, error) {
	if name == "" {
		return usualConfig(ctx, repo, j)
	}
	if strings.HasPrefix(name, fromBase) || strings.HasPrefix(name, "git:") {
		return name, nil
	}
	file, ok := git.PathIn(repo.Root(), name)
	if !ok {
		return name, nil
	}
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return fromBase + file, nil
	}
	known, err := repo.HasPath(ctx, file, j.base, j.head)
	if known {
		return fromBase + file, err
	}
	return name, err
}

// usualConfig is where the settings come from when none are named: base's of the
// current folder, or else of the whole checkout; outside of it, a file here.
func usualConfig(ctx context.Context, repo *git.Repository, j job) (string, error) {
	file, ok := git.PathIn(repo.Root(), DefaultSettings)
	if _, err := os.Lstat(DefaultSettings); !ok && err == nil {
		return DefaultSettings, nil
	}
	if known, err := repo.HasPath(ctx, file, j.base); ok && known || err != nil {
		return fromBase + file, err
	}
	return fromBase + DefaultSettings, nil
}

// ciConfig is the CI file of the project, "" when it lies elsewhere.
func ciConfig(getenv func(string) string) string {
	name := getenv("CI_CONFIG_PATH")
	if name == "" || strings.Contains(name, "@") || strings.Contains(name, "://") {
		return ""
	}
	return strings.TrimPrefix(path.Clean("/"+filepath.ToSlash(name)), "/")
}
