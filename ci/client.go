package ci

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/internal/sanitize"
)

// Options are the settings of a [Client].
type Options struct {
	// API is the address of version 4 of the API.
	API string
	// Token is sent with every request. It must not be empty.
	Token Token
	// CAFile is a file with certificates to trust in addition to those of the
	// system. It may be "".
	CAFile string
	// Settle is the settling time: how long to wait after writing a note until it is
	// read again, to see whether another pipeline has overwritten it. 0 reads it
	// immediately.
	Settle time.Duration
	// Transport sends the requests. nil means a transport with timeouts that uses
	// the proxy of the environment.
	Transport http.RoundTripper
}

// DefaultSettle is a settling time with which the guarantees of this package hold.
const DefaultSettle = 15 * time.Second

// A Client sends requests to one GitLab with one token. Only one goroutine may use it at a
// time.
type Client struct {
	api       api
	transport http.RoundTripper
	token     Token
	settle    time.Duration
	userID    int // user of the token; 0 if not yet known
}

// api has the calls of GitLab that this package uses. Each call is one request.
type api interface {
	noteAPI
	statusAPI
	artifactAPI
	labelAPI
	rightsAPI
	discussionAPI
}

// New returns a client. It sends no request.
func New(o Options) (*Client, error) {
	transport, err := newTransport(o)
	if err != nil {
		return nil, err
	}
	c := &Client{transport: transport, token: o.Token, settle: o.Settle}
	c.api, err = newGoGitLab(o.API, o.Token, transport, c.mask)
	return c, err
}

// Identify asks GitLab for the user of the token. Other methods do the same when they need
// the user. Call Identify before them to get one error, not one from each, if the token is
// not valid.
func (c *Client) Identify(ctx context.Context) error { return addRemedy(c.identify(ctx), "api") }

// identify sets userID, unless it is known.
func (c *Client) identify(ctx context.Context) error {
	if c.userID != 0 {
		return nil
	}
	err := repeat(ctx, requestTimeout, func(ctx context.Context) (err error) {
		c.userID, err = c.api.userID(ctx)
		return err
	})
	if err == nil && c.userID == 0 {
		err = errors.New("the answer names no user")
	}
	if err != nil {
		return fmt.Errorf("asking for the user of the token: %w", err)
	}
	return nil
}

// mask masks the token in a text of a server.
func (c *Client) mask(text string) string { return Mask(text, c.token) }

// Mask masks tokens in a text, in every encoding in which a server or a log may show them.
func Mask(text string, tokens ...Token) string {
	var secrets []string
	for _, t := range tokens {
		secrets = append(secrets, t.Value)
	}
	return mask.New(secrets).Text(text)
}

// maxText is the maximal length of a text of a server, in runes.
const maxText = 300

// A RefusedError is an answer of GitLab whose status is not a success.
type RefusedError struct {
	Status int
	// Text is the beginning of GitLab's message, without control characters and
	// without the token.
	Text  string
	after time.Duration // how long GitLab asks to wait; 0 if it does not ask
}

// Error returns the status and the message of GitLab.
func (e *RefusedError) Error() string {
	text := fmt.Sprintf("status %d %s", e.Status, http.StatusText(e.Status))
	if e.Text != "" {
		text += ": " + e.Text
	}
	return text
}

// cleanText returns a text of a server as one masked line of limited length.
func cleanText(text string, mask func(string) string) string {
	text = mask(sanitize.Line(text))
	if runes := []rune(text); len(runes) > maxText {
		text = string(runes[:maxText]) + "…"
	}
	return text
}

// readPages calls list for one page after the other and returns the elements of all pages.
// More pages than most are an error.
func readPages[T any](ctx context.Context, most int, list func(ctx context.Context,
	page int) ([]T, bool, error)) ([]T, error) {
	var all []T
	for page := 1; ; page++ {
		var found []T
		var more bool
		err := repeat(ctx, requestTimeout, func(ctx context.Context) (err error) {
			found, more, err = list(ctx, page)
			return err
		})
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
		switch {
		case !more:
			return all, nil
		case page >= most:
			return nil, fmt.Errorf("there are more than %d pages", most)
		}
	}
}
