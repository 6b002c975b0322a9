package ci

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A MergeQueue reads the merge requests of one project of GitLab for a merge queue, and merges them. What only reads is
// repeated when GitLab does not answer; what writes is sent once, and its error says whether GitLab may have done it.
type MergeQueue struct {
	client  *Client
	api     queueAPI
	project string
}

// A QueueProject is what a project says about merging.
type QueueProject struct {
	ID            int
	MergeMethod   string // merge, rebase_merge (semi-linear) or ff
	SquashOption  string // never, always, default_on or default_off
	HasTrains     bool
	NeedsPipeline bool // merges only if the pipeline of the head succeeded
	TakesSkipped  bool // a skipped pipeline counts as one that succeeded
}

// A QueueRequest is a merge request as a merge queue sees it.
type QueueRequest struct {
	Number        int
	Title         string
	URL           string
	Head          string
	Target        string // branch
	SourceProject int
	IsDraft       bool
	Labels        []string
	State         string // opened, merged, closed or locked
	Status        string // detailed_merge_status
	OldStatus     string // merge_status
	Squash        bool
	UpdatedAt     time.Time
	MergedAt      time.Time
	MergeCommit   string
	SquashCommit  string
	MergeError    string
	IsRebasing    bool // told of a single merge request alone
}

// A QueueLabelEvent says that somebody added or removed a label of a merge request.
type QueueLabelEvent struct {
	Label     string // "" if there is no such label any more
	By        string
	At        time.Time
	IsRemoval bool
}

// A QueuePipeline is a pipeline of a merge request.
type QueuePipeline struct {
	ID                   int
	Status, Source, SHA  string
	CreatedAt, UpdatedAt time.Time
}

// queueAPI has the calls of GitLab of a [MergeQueue]. Each call is one request.
type queueAPI interface {
	queueProject(ctx context.Context, project string) (QueueProject, error)
	branchHead(ctx context.Context, project, name string) (string, error)
	queueRequests(ctx context.Context, project string, of RequestFilter, page int) ([]QueueRequest, bool, error)
	queueRequest(ctx context.Context, project string, number int) (QueueRequest, error)
	labelEvents(ctx context.Context, project string, number, page int) ([]QueueLabelEvent, bool, error)
	requestPipelines(ctx context.Context, project string, number int) ([]QueuePipeline, error)
	branchPipelines(ctx context.Context, project, branch string) ([]QueuePipeline, error)
	isAncestor(ctx context.Context, project, old, young string) (bool, error)
	rebaseRequest(ctx context.Context, project string, number int) error
	mergeRequest(ctx context.Context, project string, number int, head string, squash bool) error
}

// A RequestFilter says which merge requests are listed.
type RequestFilter struct {
	State, Target, Label string
	Since                time.Time // updated since; zero is ever
}

// NewMergeQueue returns the merge queue of a project, by its path, such as group/project. It sends no request.
func NewMergeQueue(o Options, project string) (*MergeQueue, error) {
	if !strings.Contains(project, "/") || strings.Trim(project, "/") != project {
		return nil, fmt.Errorf("%.80q is no project, such as group/project", project)
	}
	client, err := New(o)
	if err != nil {
		return nil, err
	}
	api, ok := client.api.(queueAPI)
	if !ok {
		return nil, errors.New("the client has no calls for merge queues")
	}
	return &MergeQueue{client: client, api: api, project: project}, nil
}

// Project reads what the project says about merging.
func (q *MergeQueue) Project(ctx context.Context) (QueueProject, error) {
	return read(ctx, "reading the project", func(ctx context.Context) (QueueProject, error) {
		return q.api.queueProject(ctx, q.project)
	})
}

// Branch reads the head of a branch.
func (q *MergeQueue) Branch(ctx context.Context, name string) (string, error) {
	return read(ctx, "reading the branch "+name, func(ctx context.Context) (string, error) {
		return q.api.branchHead(ctx, q.project, name)
	})
}

// Requests lists merge requests, by number.
func (q *MergeQueue) Requests(ctx context.Context, of RequestFilter) ([]QueueRequest, error) {
	all, err := readPages(ctx, maxForgePages, func(ctx context.Context, page int) ([]QueueRequest, bool, error) {
		return q.api.queueRequests(ctx, q.project, of, page)
	})
	if err != nil {
		return nil, forgeError("listing the merge requests", err)
	}
	slices.SortFunc(all, func(a, b QueueRequest) int { return a.Number - b.Number })
	return slices.CompactFunc(all, func(a, b QueueRequest) bool { return a.Number == b.Number }), nil
}

// Request reads one merge request.
func (q *MergeQueue) Request(ctx context.Context, number int) (QueueRequest, error) {
	return read(ctx, fmt.Sprintf("reading the merge request !%d", number),
		func(ctx context.Context) (QueueRequest, error) { return q.api.queueRequest(ctx, q.project, number) })
}

// LabelEvents reads who added and removed labels of a merge request, in the order of time.
func (q *MergeQueue) LabelEvents(ctx context.Context, number int) ([]QueueLabelEvent, error) {
	all, err := readPages(ctx, maxForgePages, func(ctx context.Context, page int) ([]QueueLabelEvent, bool, error) {
		return q.api.labelEvents(ctx, q.project, number, page)
	})
	slices.SortStableFunc(all, func(a, b QueueLabelEvent) int { return a.At.Compare(b.At) })
	return all, forgeError(fmt.Sprintf("reading the labels of the merge request !%d", number), err)
}

// Pipelines reads the newest pipelines of a merge request.
func (q *MergeQueue) Pipelines(ctx context.Context, number int) ([]QueuePipeline, error) {
	return read(ctx, fmt.Sprintf("reading the pipelines of the merge request !%d", number),
		func(ctx context.Context) ([]QueuePipeline, error) {
			return q.api.requestPipelines(ctx, q.project, number)
		})
}

// BranchPipelines reads the newest pipelines of a branch.
func (q *MergeQueue) BranchPipelines(ctx context.Context, branch string) ([]QueuePipeline, error) {
	return read(ctx, "reading the pipelines of the branch "+branch, func(ctx context.Context) ([]QueuePipeline, error) {
		return q.api.branchPipelines(ctx, q.project, branch)
	})
}

// IsAncestor reports whether a commit is in the history of another one.
func (q *MergeQueue) IsAncestor(ctx context.Context, old, young string) (bool, error) {
	return read(ctx, "comparing "+old+" with "+young, func(ctx context.Context) (bool, error) {
		return q.api.isAncestor(ctx, q.project, old, young)
	})
}
