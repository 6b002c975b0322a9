package ci

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/retry"
)

// A Note is what a merge request shall show.
type Note interface {
	// Marker is what the body of each note of this tool begins with, and no
	// other.
	Marker() string
	// Generation reads which plan a body shows: the larger, the newer.
	Generation(body string) (int64, bool)
	// Body returns the body to show, given the one that was shown before, or "".
	Body(previous string) (string, error)
}

// MaxBody is the largest body of a note that GitLab takes, in code points.
const MaxBody = 1_000_000

// A Change is what became of the note.
type Change string

// The changes.
const (
	Untouched  Change = "untouched"  // it showed this already
	Created    Change = "created"    // there was none
	Updated    Change = "updated"    // it showed something else
	Superseded Change = "superseded" // it shows a newer plan
)

// Published is what came of publishing a note.
type Published struct {
	Change Change
	ID     int
	Body   string // what it shows
}

// note is a note as GitLab has it.
type note struct {
	id, author int
	system     bool
	body       string
	// asked and told are when the request for it began and ended.
	asked, told time.Time
}

// noteAPI is what is used of GitLab for notes.
type noteAPI interface {
	me(ctx context.Context) (int, error)
	notes(ctx context.Context, at MergeRequest, page, size int) ([]note, bool, error)
	note(ctx context.Context, at MergeRequest, id int) (note, error)
	createNote(ctx context.Context, at MergeRequest, body string) (note, error)
	editNote(ctx context.Context, at MergeRequest, id int, body string) (note, error)
	removeNote(ctx context.Context, at MergeRequest, id int) error
}

// How long publishing may take. The time between reading a note and the end of
// editing it must be shorter than the settling time by what the clocks and the
// ways of two publishers may differ.
const (
	editTime    = 8 * time.Second
	publishTime = 10 * time.Minute
	lateSettles = 4 // a write without an answer may land for so many settling times
)

// Publish makes the merge request show the note, once, or something newer. How it
// does so while others do the same is told in the documentation of the package.
func (c *Client) Publish(ctx context.Context, at MergeRequest, n Note) (Published, error) {
	out, err := c.publish(ctx, at, n)
	if err != nil {
		return out, fmt.Errorf("the note of merge request !%d: %w", at.IID, remedy(err, "api"))
	}
	return out, nil
}

func (c *Client) publish(ctx context.Context, at MergeRequest, n Note) (Published, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, publishTime, fmt.Errorf("it did not settle within %s", publishTime))
	defer cancel()
	if err := c.identify(ctx); err != nil {
		return Published{}, err
	}
	p := &publisher{api: c.api, at: at, note: n, author: c.author, settle: c.settle, mask: c.mask, newest: version{generation: -1}}
	for failures := 0; ; {
		err := p.round(ctx)
		wait := p.wait()
		switch {
		case ctx.Err() != nil:
			return Published{}, context.Cause(ctx)
		case err == nil && p.settled():
			return p.published(), nil
		case err == nil:
			failures = 0
		default:
			failures++
			after, ok := mayPass(err)
			wait = requests.Pause(failures, after)
			end, _ := ctx.Deadline()
			if !ok || failures == requests.Attempts || time.Until(end) < wait {
				return Published{}, retry.Tried(err, failures)
			}
		}
		if err := retry.Sleep(ctx, wait); err != nil {
			return Published{}, err
		}
	}
}

// A version is a body and the generation that it shows; -1 when it shows none.
type version struct {
	body       string
	generation int64
}

func (p *publisher) version(body string) version {
	if g, ok := p.note.Generation(body); ok {
		return version{body, g}
	}
	return version{body, -1}
}

// same tells whether two bodies differ only by what GitLab may change.
func same(a, b string) bool { return plain(a) == plain(b) }

func plain(body string) string {
	return strings.TrimSpace(strings.ReplaceAll(body, "\r\n", "\n"))
}

// notFound tells that a note was removed meanwhile.
func notFound(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused) && refused.Status == http.StatusNotFound
}
