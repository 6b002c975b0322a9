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

// A Note is a note that a merge request is to show.
type Note interface {
	// Marker returns the text with which the bodies of all notes of this tool begin,
	// and no other bodies.
	Marker() string
	// Generation returns the generation of the plan that a body shows. A newer plan
	// has a larger generation.
	Generation(body string) (int64, bool)
	// Body returns the body to show. Previous is the body that was shown before, or
	// "".
	Body(previous string) (string, error)
}

// MaxBody is the maximal length of a note in GitLab, in code points.
const MaxBody = 1_000_000

// A Change says how publishing has changed the note.
type Change string

// The changes.
const (
	Untouched  Change = "untouched"  // the note showed this body already
	Created    Change = "created"    // there was no note
	Updated    Change = "updated"    // the note showed another body
	Superseded Change = "superseded" // the note shows a newer plan
)

// A Published is the outcome of publishing a note.
type Published struct {
	Change Change
	ID     int    // id of the note
	Body   string // body that the note shows
}

// A storedNote is a note as GitLab has stored it.
type storedNote struct {
	id, author int
	system     bool
	body       string
	// requestedAt and receivedAt are the times at which the request that read the
	// note began and ended.
	requestedAt, receivedAt time.Time
}

// noteAPI has the calls of GitLab for notes.
type noteAPI interface {
	userID(ctx context.Context) (int, error)
	notes(ctx context.Context, at MergeRequest, page, size int) ([]storedNote, bool, error)
	note(ctx context.Context, at MergeRequest, id int) (storedNote, error)
	createNote(ctx context.Context, at MergeRequest, body string) (storedNote, error)
	editNote(ctx context.Context, at MergeRequest, id int, body string) (storedNote, error)
	removeNote(ctx context.Context, at MergeRequest, id int) error
}

// Limits of the time to publish a note. The time between reading a note and the end of
// editing it must be shorter than the settling time. The difference must cover differences
// of clocks and of network delays between two publishers.
const (
	editTime          = 8 * time.Second
	publishTime       = 10 * time.Minute
	lateSettlingTimes = 4 // number of settling times in which GitLab may carry out a write without an answer
)

// Publish makes the merge request show the note, or a newer one, exactly once. The package
// documentation describes how it works while other pipelines publish, too.
func (c *Client) Publish(ctx context.Context, at MergeRequest, n Note) (Published, error) {
	out, err := c.publish(ctx, at, n)
	if err != nil {
		return out, fmt.Errorf("the note of merge request !%d: %w", at.IID, addRemedy(err, "api"))
	}
	return out, nil
}

// publish runs a publisher until the note has settled.
func (c *Client) publish(ctx context.Context, at MergeRequest, n Note) (Published, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, publishTime, fmt.Errorf("it did not settle within %s", publishTime))
	defer cancel()
	if err := c.identify(ctx); err != nil {
		return Published{}, err
	}
	p := &publisher{api: c.api, mergeRequest: at, note: n, userID: c.userID, settle: c.settle, mask: c.mask,
		newest: version{generation: -1}}
	for failures := 0; ; {
		err := p.lookAndWrite(ctx)
		wait := p.timeToNextLook()
		switch {
		case ctx.Err() != nil:
			return Published{}, context.Cause(ctx)
		case err == nil && p.isSettled():
			return p.outcome(), nil
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

// A version is a body with its generation, which is -1 if the body shows none.
type version struct {
	body       string
	generation int64
}

// version returns a body with its generation.
func (p *publisher) version(body string) version {
	if g, ok := p.note.Generation(body); ok {
		return version{body, g}
	}
	return version{body, -1}
}

// sameBody reports whether two bodies are equal, except for changes that GitLab may make.
func sameBody(a, b string) bool { return normalizeBody(a) == normalizeBody(b) }

// normalizeBody returns a body as GitLab may store it.
func normalizeBody(body string) string {
	return strings.TrimSpace(strings.ReplaceAll(body, "\r\n", "\n"))
}

// isNotFound reports whether an error means that a note does not exist any more.
func isNotFound(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused) && refused.Status == http.StatusNotFound
}
