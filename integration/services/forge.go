package services

import (
	"context"
	"errors"
	"time"
)

// ErrMoved says that a forge refused a commit because a file is not the one that it was made
// from: somebody else was faster.
var ErrMoved = errors.New("the file changed meanwhile")

// ErrBranchMoved says that a forge refused to move or to delete a branch because its head is not
// the one that was named: somebody else was faster.
var ErrBranchMoved = errors.New("the branch moved meanwhile")

// UnfinishedSuffix ends the names of branches that a forge makes while it moves another one. One
// that is there for longer was left behind by a program that was killed, and may be deleted.
const UnfinishedSuffix = ".next"

// A ForgeReader reads one project of a forge, such as GitLab, with one token. Several
// goroutines may use it at once.
type ForgeReader interface {
	// Branches returns the branches whose names begin with a prefix, with the full shas of their
	// heads.
	Branches(ctx context.Context, prefix string) (map[string]string, error)
	// File returns a file at a branch or a commit. The error is [ErrNotThere] if there is none.
	File(ctx context.Context, ref, path string) (ForgeFile, error)
	// Ahead returns what a branch or a commit has that base has not.
	Ahead(ctx context.Context, base, branch string) (Ahead, error)
	// MergeRequests returns the open merge requests of the user of the token whose branches begin
	// with a prefix, in the order of their numbers.
	MergeRequests(ctx context.Context, prefix string) ([]MergeRequest, error)
	// Past returns the merge requests that were made from a branch, open or not, newest first. It
	// may leave out those that are older than a hundred others.
	Past(ctx context.Context, branch string) ([]MergeRequest, error)
}

// Said is what a person wrote into a merge request.
type Said struct {
	ID     int // grows from one comment to the next
	By     string
	Body   string
	At     time.Time
	Edited bool // somebody changed it since; forges do not tell who
}

// A Listener is a [ForgeReader] that reads what people wrote, too.
type Listener interface {
	// Said returns what people wrote into a merge request, oldest first. What the user of the token wrote is not among
	// it.
	Said(ctx context.Context, number int) ([]Said, error)
}

// A ForgeWriter changes one project of a forge.
type ForgeWriter interface {
	ForgeReader
	// Commit makes a branch one commit on the head of another branch. The error is [ErrMoved] if a
	// file has another version than the change names, and [ErrBranchMoved] if the branch has another
	// head than the commit names: what somebody else pushed is never lost.
	Commit(ctx context.Context, c ForgeCommit) (sha string, err error)
	// Open opens a merge request and returns its number.
	Open(ctx context.Context, text MergeText) (int, error)
	// Describe changes title, description and labels of a merge request; branches stay.
	Describe(ctx context.Context, number int, text MergeText) error
	Note(ctx context.Context, number int, body string) error
	Close(ctx context.Context, number int) error
	// Arm lets the forge merge as soon as it may, if the head is still this commit. That it is
	// armed already is a success.
	Arm(ctx context.Context, number int, head string) error
	// DeleteBranch deletes a branch with this head. That there is none is a success; the error is
	// [ErrBranchMoved] if it has another head.
	DeleteBranch(ctx context.Context, name, head string) error
}

// A ForgeFile is a file of a project.
type ForgeFile struct {
	Content []byte
	// Version is the last commit that changed the file.
	Version string
}

// Ahead is what a branch has that another one has not.
type Ahead struct {
	Commits []AheadCommit // newest first
	Paths   []string      // that differ from the newest commit of both, sorted
}

// An AheadCommit is a commit of a branch.
type AheadCommit struct {
	ID      string
	Parents []string
	Message string
}

// A ForgeCommit is a commit to make.
type ForgeCommit struct {
	Branch  string // to set
	Was     string // its head, "" if there must be none
	Start   string // the branch whose head becomes the parent
	Message string
	Changes []FileChange
}

// A FileChange is the new content of a file that exists.
type FileChange struct {
	Path    string
	Content []byte
	Version string // of the file on the start branch, see [ForgeFile]
}

// A MergeText is what a merge request says.
type MergeText struct {
	Branch, Target     string // from and to
	Title, Description string
	Labels             []string
}

// A MergeRequest is a merge request of a forge.
type MergeRequest struct {
	Number      int
	URL         string
	Branch      string
	Head        string // full sha of the head of the branch
	State       MergeState
	Title       string
	Description string
	Labels      []string
	// Conflicts tells that the forge knows of conflicts with the target branch.
	Conflicts  bool
	Checks     Checks    // of the head
	Armed      bool      // the forge merges it as soon as it may
	Approved   bool      // somebody approved it
	ClosedByUs bool      // it is closed, and the user of the token did that
	ClosedBy   string    // who closed it, "" if nobody did or the forge does not tell
	Closed     time.Time // when it was closed; zero if it is not, or the forge does not tell
	Opened     time.Time
	Merged     time.Time // zero if it is not merged
}

// A MergeState says what became of a merge request.
type MergeState string

// The states.
const (
	MergeOpen   MergeState = "open"
	MergeDone   MergeState = "merged"
	MergeClosed MergeState = "closed"
)

// Checks say how the newest pipeline of a commit ended.
type Checks string

// The results. None is the zero value: there is no pipeline, or none for this commit.
const (
	ChecksNone    Checks = ""
	ChecksRunning Checks = "running"
	ChecksPassed  Checks = "passed"
	ChecksFailed  Checks = "failed"
)
