package ci

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Rights are what a token may do, as far as GitLab tells it without anything being written.
type Rights struct {
	Scopes       []string  // nil if GitLab does not tell them
	Expires      time.Time // day on which the token ends to be valid; zero if it does not
	Access       int       // role in the project; 0 if GitLab does not tell it
	MergeRequest bool      // whether the notes of the merge request could be read
	Clock        time.Time // the time of the server when it answered; zero if not known
}

// Roles in a project. A note needs a Reporter, a commit status a Developer.
const (
	Reporter  = 20
	Developer = 30
)

// rightsAPI has the calls of GitLab about a token.
type rightsAPI interface {
	tokenRights(ctx context.Context) (Rights, error)
	access(ctx context.Context, project int) (int, error)
}

// Rights asks GitLab what the token may do. It writes nothing. A merge request with number 0
// is not read.
func (c *Client) Rights(ctx context.Context, at MergeRequest) (Rights, error) {
	if err := c.Identify(ctx); err != nil {
		return Rights{}, err
	}
	var out Rights
	err := repeat(ctx, requestTimeout, func(ctx context.Context) (err error) {
		out, err = c.api.tokenRights(ctx)
		return err
	})
	var refused *RefusedError
	if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		err = nil // an older GitLab does not tell
	}
	if err != nil {
		return out, fmt.Errorf("asking for the scopes of the token: %w", err)
	}
	if at.Project == 0 {
		return out, nil
	}
	err = repeat(ctx, requestTimeout, func(ctx context.Context) (err error) {
		out.Access, err = c.api.access(ctx, at.Project)
		return err
	})
	if err != nil {
		return out, fmt.Errorf("reading project %d: %w", at.Project, addRemedy(err, "api"))
	}
	if at.IID == 0 {
		return out, nil
	}
	err = repeat(ctx, requestTimeout, func(ctx context.Context) error {
		_, _, err := c.api.notes(ctx, at, 1, 1)
		return err
	})
	if err != nil {
		return out, fmt.Errorf("reading the notes of merge request !%d: %w", at.IID, addRemedy(err, "api"))
	}
	out.MergeRequest = true
	return out, nil
}
