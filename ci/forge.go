package ci

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/integration/services"
)

// Limits of what a forge reads.
const (
	maxForgePages = 50
	maxPast       = 100
	maxForgeFile  = 8 << 20 // bytes of one file
)

// A Forge reads and writes branches, files and merge requests of one project of GitLab. Several
// goroutines may use it at once. What only reads is repeated when GitLab does not answer; what
// writes is repeated only if GitLab certainly did nothing.
type Forge struct {
	client  *Client
	api     forgeAPI
	git     gitWriter
	project string

	mu sync.Mutex // of the user of the client
}

var (
	_ services.ForgeWriter = (*Forge)(nil)
	_ services.Listener    = (*Forge)(nil)
)

// forgeAPI has the calls of GitLab of a [Forge]. Each call is one request.
type forgeAPI interface {
	branches(ctx context.Context, project, prefix string, page int) ([]branch, bool, error)
	file(ctx context.Context, project, ref, path string) (services.ForgeFile, error)
	compare(ctx context.Context, project, base, branch string) (services.Ahead, error)
	ownRequests(ctx context.Context, project string, author, page int) ([]services.MergeRequest, bool, error)
	requestsOf(ctx context.Context, project, branch string, user, size int) ([]services.MergeRequest, error)
	request(ctx context.Context, project string, number, user int) (services.MergeRequest, error)
	commit(ctx context.Context, project string, c services.ForgeCommit, force bool) (string, error)
	openRequest(ctx context.Context, project string, text services.MergeText) (int, error)
	changeRequest(ctx context.Context, project string, number int, text services.MergeText) error
	closeRequest(ctx context.Context, project string, number int) error
	addNote(ctx context.Context, project string, number int, body string) error
	arm(ctx context.Context, project string, number int, head string) error
	approversOf(ctx context.Context, project any, number int) ([]string, error)
	notesOf(ctx context.Context, project any, number, user, page, size int) ([]DiscussionNote, bool, error)
}

// A branch is a branch of a project with its head.
type branch struct{ name, head string }

// NewForge returns the forge that a project of GitLab is, by its path, such as group/project. It
// sends no request.
func NewForge(o Options, project string) (*Forge, error) {
	if !strings.Contains(project, "/") || strings.Trim(project, "/") != project {
		return nil, fmt.Errorf("%.80q is no project, such as group/project", project)
	}
	client, err := New(o)
	if err != nil {
		return nil, err
	}
	api, ok := client.api.(forgeAPI)
	if !ok {
		return nil, errors.New("the client has no calls for merge requests")
	}
	git, err := newGitWriter(o.API, o.Token, client.transport, client.mask)
	return &Forge{client: client, api: api, git: git, project: project}, err
}

// user returns the id of the user of the token.
func (f *Forge) user(ctx context.Context) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.client.Identify(ctx)
	return f.client.userID, err
}

// read sends a request that only reads until it is answered, and says what it was for.
func read[T any](ctx context.Context, what string, send func(ctx context.Context) (T, error)) (T, error) {
	var out T
	err := repeat(ctx, requestTimeout, func(ctx context.Context) (err error) {
		out, err = send(ctx)
		return err
	})
	return out, forgeError(what, err)
}

// write sends a request that writes. It is sent again only if GitLab says that there were too
// many requests.
func write[T any](ctx context.Context, what string, send func(ctx context.Context) (T, error)) (T, error) {
	var out T
	policy := requests
	policy.Within = maxTotal
	err := policy.Do(ctx, func(ctx context.Context) error {
		return sendWithin(ctx, requestTimeout, func(ctx context.Context) (err error) {
			out, err = send(ctx)
			return err
		})
	}, func(err error) (time.Duration, bool) {
		var refused *RefusedError
		if errors.As(err, &refused) && (refused.Status == http.StatusTooManyRequests ||
			refused.Status == http.StatusTooEarly) {
			return refused.after, true
		}
		return 0, false
	})
	return out, forgeError(what, err)
}

// forgeError returns an error with what was done, and as one of package services if it has it.
func forgeError(what string, err error) error {
	var refused *RefusedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && refused.Status == http.StatusNotFound:
		return fmt.Errorf("%s: %w: %w", what, services.ErrNotThere, err)
	case errors.As(err, &refused):
		return fmt.Errorf("%s: %w", what, addRemedy(err, "api"))
	}
	return fmt.Errorf("%s: %w", what, err)
}

// Branches implements [services.ForgeReader].
func (f *Forge) Branches(ctx context.Context, prefix string) (map[string]string, error) {
	all, err := readPages(ctx, maxForgePages, func(ctx context.Context, page int) ([]branch, bool, error) {
		return f.api.branches(ctx, f.project, prefix, page)
	})
	if err != nil {
		return nil, forgeError("listing the branches "+prefix+"*", err)
	}
	out := map[string]string{}
	for _, b := range all {
		if strings.HasPrefix(b.name, prefix) {
			out[b.name] = b.head
		}
	}
	return out, nil
}

// File implements [services.ForgeReader].
func (f *Forge) File(ctx context.Context, ref, path string) (services.ForgeFile, error) {
	return read(ctx, fmt.Sprintf("reading %s of %.20s", path, ref), func(ctx context.Context) (services.ForgeFile, error) {
		return f.api.file(ctx, f.project, ref, path)
	})
}

// Ahead implements [services.ForgeReader].
func (f *Forge) Ahead(ctx context.Context, base, branch string) (services.Ahead, error) {
	return read(ctx, "comparing "+branch+" with "+base, func(ctx context.Context) (services.Ahead, error) {
		return f.api.compare(ctx, f.project, base, branch)
	})
}

// MergeRequests implements [services.ForgeReader]. Each merge request is one more request, since
// lists of GitLab do not tell how checks ended.
func (f *Forge) MergeRequests(ctx context.Context, prefix string) ([]services.MergeRequest, error) {
	const what = "listing the open merge requests"
	user, err := f.user(ctx)
	if err != nil {
		return nil, forgeError(what, err)
	}
	all, err := readPages(ctx, maxForgePages, func(ctx context.Context, page int) ([]services.MergeRequest, bool, error) {
		return f.api.ownRequests(ctx, f.project, user, page)
	})
	if err != nil {
		return nil, forgeError(what, err)
	}
	var out []services.MergeRequest
	for _, listed := range all {
		if !strings.HasPrefix(listed.Branch, prefix) {
			continue
		}
		m, err := read(ctx, fmt.Sprintf("reading the merge request !%d", listed.Number),
			func(ctx context.Context) (services.MergeRequest, error) {
				return f.api.request(ctx, f.project, listed.Number, user)
			})
		if err != nil {
			return nil, err
		}
		if m.State == services.MergeOpen && strings.HasPrefix(m.Branch, prefix) {
			m.Approved = f.isApproved(ctx, m.Number)
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b services.MergeRequest) int { return cmp.Compare(a.Number, b.Number) })
	return out, nil
}

// isApproved reports whether somebody approved a merge request. If nobody knows, it counts as approved: what people
// approved is left alone.
func (f *Forge) isApproved(ctx context.Context, number int) bool {
	by, err := read(ctx, "reading who approves", func(ctx context.Context) ([]string, error) {
		return f.api.approversOf(ctx, f.project, number)
	})
	return err != nil || len(by) > 0
}

// Said implements [services.Listener]. What GitLab itself wrote is not among it.
func (f *Forge) Said(ctx context.Context, number int) ([]services.Said, error) {
	what := fmt.Sprintf("reading the notes of the merge request !%d", number)
	user, err := f.user(ctx)
	if err != nil {
		return nil, forgeError(what, err)
	}
	notes, err := readPages(ctx, maxForgePages, func(ctx context.Context, page int) ([]DiscussionNote, bool, error) {
		return f.api.notesOf(ctx, f.project, number, user, page, pageSize)
	})
	if err != nil {
		return nil, forgeError(what, err)
	}
	var out []services.Said
	for _, n := range notes {
		if !n.IsSystem && !n.IsOwn {
			out = append(out, services.Said{ID: n.ID, By: n.By, Body: n.Body, At: n.WrittenAt,
				Edited: n.ChangedAt.Sub(n.WrittenAt) > time.Second})
		}
	}
	slices.SortFunc(out, func(a, b services.Said) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// Past implements [services.ForgeReader].
func (f *Forge) Past(ctx context.Context, branch string) ([]services.MergeRequest, error) {
	user, err := f.user(ctx)
	if err != nil {
		return nil, forgeError("listing the merge requests of "+branch, err)
	}
	return read(ctx, "listing the merge requests of "+branch, func(ctx context.Context) ([]services.MergeRequest, error) {
		return f.api.requestsOf(ctx, f.project, branch, user, maxPast)
	})
}

// Commit implements [services.ForgeWriter]. A branch that is not there is made by the API, which
// refuses to if it is there. One that is there is moved by git, to a commit that the API made on a
// branch of another name.
func (f *Forge) Commit(ctx context.Context, c services.ForgeCommit) (string, error) {
	what := "committing to " + c.Branch
	if c.Branch == c.Start || len(c.Changes) == 0 {
		return "", errors.New(what + ": a commit changes files, on another branch than it starts from")
	}
	on := c
	if c.Was != "" {
		on.Branch += services.UnfinishedSuffix
	}
	sha, err := write(ctx, what, func(ctx context.Context) (string, error) {
		return f.api.commit(ctx, f.project, on, c.Was != "")
	})
	var refused *RefusedError
	if errors.As(err, &refused) && refused.Status == http.StatusBadRequest {
		switch {
		case isAboutFile(refused.Text):
			err = fmt.Errorf("%w: %w", services.ErrMoved, err)
		case strings.Contains(refused.Text, "already exists"):
			err = fmt.Errorf("%w: %w", services.ErrBranchMoved, err)
		}
	}
	if err != nil || c.Was == "" {
		return sha, err
	}
	err = f.move(ctx, what, c.Branch, c.Was, sha)
	_ = f.move(ctx, what, on.Branch, sha, "") // what is left is deleted later
	return sha, err
}

// isAboutFile reports whether GitLab refused a commit since a file is not what it was.
func isAboutFile(text string) bool {
	for _, part := range []string{"changed since", "doesn't exist", "does not exist"} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// Open implements [services.ForgeWriter].
func (f *Forge) Open(ctx context.Context, text services.MergeText) (int, error) {
	return write(ctx, "opening a merge request of "+text.Branch, func(ctx context.Context) (int, error) {
		return f.api.openRequest(ctx, f.project, text)
	})
}

// Describe implements [services.ForgeWriter].
func (f *Forge) Describe(ctx context.Context, number int, text services.MergeText) error {
	return f.change(ctx, "describing", number, func(ctx context.Context) error {
		return f.api.changeRequest(ctx, f.project, number, text)
	})
}

// Note implements [services.ForgeWriter].
func (f *Forge) Note(ctx context.Context, number int, body string) error {
	return f.change(ctx, "adding a note to", number, func(ctx context.Context) error {
		return f.api.addNote(ctx, f.project, number, body)
	})
}

// Close implements [services.ForgeWriter].
func (f *Forge) Close(ctx context.Context, number int) error {
	return f.change(ctx, "closing", number, func(ctx context.Context) error {
		return f.api.closeRequest(ctx, f.project, number)
	})
}

// Arm implements [services.ForgeWriter]. GitLab answers 409 if the merge request is armed.
func (f *Forge) Arm(ctx context.Context, number int, head string) error {
	err := f.change(ctx, "arming", number, func(ctx context.Context) error {
		return f.api.arm(ctx, f.project, number, head)
	})
	var refused *RefusedError
	if errors.As(err, &refused) && refused.Status == http.StatusConflict && !strings.Contains(refused.Text, "SHA") {
		return nil
	}
	return err
}

// change sends a request that changes a merge request.
func (f *Forge) change(ctx context.Context, doing string, number int, send func(ctx context.Context) error) error {
	_, err := write(ctx, fmt.Sprintf("%s the merge request !%d", doing, number),
		func(ctx context.Context) (struct{}, error) { return struct{}{}, send(ctx) })
	return err
}

// DeleteBranch implements [services.ForgeWriter].
func (f *Forge) DeleteBranch(ctx context.Context, name, head string) error {
	return f.move(ctx, "deleting the branch "+name, name, head, "")
}
