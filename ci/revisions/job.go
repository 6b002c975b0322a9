package revisions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/plan"
)

// A Job is the change that a job of GitLab checks, as its variables describe it.
type Job struct {
	Head, Base string // hashes of commits; Base is "" until [Job.Find] when no variable names it
	// Reason says where Base comes from, for people: the name of a variable, or a branch.
	Reason string

	target string // the branch whose merge base with HEAD is Base, when no variable names it
}

// commitHash matches the hash of a commit as GitLab writes it.
var commitHash = lazyregexp.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// InJob reports whether this process runs in a job of GitLab.
func InJob(getenv func(string) string) bool { return getenv != nil && getenv("GITLAB_CI") == "true" }

// ReadMergeRequest returns the merge request in whose pipeline the job runs, as the variables of
// the job name it; nil if there is none.
func ReadMergeRequest(getenv func(string) string) *plan.MergeRequest {
	if !InJob(getenv) || getenv("CI_MERGE_REQUEST_IID") == "" {
		return nil
	}
	out := &plan.MergeRequest{
		Name:    getenv("CI_MERGE_REQUEST_PROJECT_PATH") + "!" + getenv("CI_MERGE_REQUEST_IID"),
		Commit:  getenv("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"),
		InTrain: getenv("CI_MERGE_REQUEST_EVENT_TYPE") == "merge_train",
	}
	out.Pipeline, _ = strconv.ParseInt(getenv("CI_PIPELINE_ID"), 10, 64) // 0 if it is no number
	if getenv("CI_MERGE_REQUEST_EVENT_TYPE") == "detached" {             // the job has the branch itself checked out
		out.Commit = cmp.Or(out.Commit, getenv("CI_COMMIT_SHA"))
	}
	return out
}

// ReadJob reads the variables of the job.
func ReadJob(getenv func(string) string) (Job, error) {
	j := Job{Head: getenv("CI_COMMIT_SHA")}
	isMergeRequest := getenv("CI_MERGE_REQUEST_IID") != ""
	names := []string{"CI_COMMIT_BEFORE_SHA"}
	if isMergeRequest {
		names = []string{"CI_MERGE_REQUEST_TARGET_BRANCH_SHA", "CI_MERGE_REQUEST_DIFF_BASE_SHA"}
	}
	for _, name := range names {
		if hash := getenv(name); j.Base == "" && strings.Trim(hash, "0") != "" {
			j.Base, j.Reason = hash, name
		}
	}
	if !commitHash.MatchString(j.Head) {
		return j, fmt.Errorf("CI_COMMIT_SHA is %q, which is no commit: name the change with --base and --head", j.Head)
	}
	switch {
	case j.Base != "" && !commitHash.MatchString(j.Base):
		return j, fmt.Errorf("%s is %q, which is no commit: name the change with --base and --head", j.Reason, j.Base)
	case j.Base != "":
		return j, nil
	case isMergeRequest:
		return j, errors.New("neither CI_MERGE_REQUEST_TARGET_BRANCH_SHA nor CI_MERGE_REQUEST_DIFF_BASE_SHA says what the " +
			"merge request starts from: name it with --base and --head")
	}
	if j.target = getenv("CI_DEFAULT_BRANCH"); j.target == "" {
		return j, errors.New("neither CI_COMMIT_BEFORE_SHA nor CI_DEFAULT_BRANCH says what was before the push: name it " +
			"with --base and --head")
	}
	j.Reason = "where it left the branch " + j.target
	return j, nil
}

// Find returns the job with its base filled in, once both commits are in the repository. It
// fetches a base that a shallow clone lacks.
func (j Job) Find(ctx context.Context, repo *git.Repository) (Job, error) {
	commit, _, err := repo.Head(ctx)
	switch {
	case err != nil:
		return j, err
	case commit != j.Head:
		return j, fmt.Errorf("the job has %s checked out, and not %s, its CI_COMMIT_SHA: name the change with --base "+
			"and --head", git.Short(commit), git.Short(j.Head))
	case j.Base != "":
		return j, fetch(ctx, repo, j.Base, j.Reason)
	case repo.IsShallow(ctx): // its merge base may be another than the true one
		return j, fmt.Errorf("the clone is shallow, so it does not tell where the branch left %s: set GIT_DEPTH: 0 for "+
			"the job", j.target)
	}
	if j.Base, err = repo.MergeBase(ctx, "refs/remotes/origin/"+j.target); j.Base == j.Head {
		j.Reason = "it is on the branch " + j.target + " already, so nothing differs"
	}
	return j, err
}

// Reach makes a revision available in the repository of a folder: in a job of GitLab it
// fetches a commit that is named by its full hash and that the clone lacks. It does nothing
// elsewhere, and for other revisions. The name stands for the revision in the error.
func Reach(ctx context.Context, getenv func(string) string, revision, dir, name string) error {
	if !InJob(getenv) || !commitHash.MatchString(revision) {
		return nil
	}
	repo, err := git.FindRepository(ctx, dir)
	if err != nil {
		return err
	}
	return fetch(ctx, repo, revision, name)
}

// fetch makes a commit available, from the remote if the repository lacks it.
func fetch(ctx context.Context, repo *git.Repository, commit, name string) error {
	if repo.HasCommit(ctx, commit) {
		return nil
	}
	err := repo.Fetch(ctx, commit)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("the clone lacks the commit %s (%s): %w; set GIT_DEPTH: 0 for the job, or fetch it first",
		git.Short(commit), name, err)
}

// CIFile returns the path of the project's CI file in the repository, "" when the project
// does not name one, or names one that lies elsewhere.
func CIFile(getenv func(string) string) string {
	name := getenv("CI_CONFIG_PATH")
	if name == "" || strings.Contains(name, "@") || strings.Contains(name, "://") {
		return ""
	}
	return strings.TrimPrefix(path.Clean("/"+filepath.ToSlash(name)), "/")
}
