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

// Options say how to reach a GitLab.
type Options struct {
	// API is the address of version 4 of the API.
	API string
	// Token is sent with every request. It must not be empty.
	Token Token
	// CAFile holds certificates to trust beside those of the system; "" none.
	CAFile string
	// Settle is how long to wait after writing a note before looking whether
	// another pipeline wrote over it; 0 looks at once.
	Settle time.Duration
	// Transport sends the requests; nil is one with timeouts that uses the proxy
	// of the environment.
	Transport http.RoundTripper
}

// DefaultSettle is a settling time under which the guarantees of this package
// hold.
const DefaultSettle = 15 * time.Second

// A Client talks to one GitLab with one token, for one goroutine.
type Client struct {
	api    api
	token  Token
	settle time.Duration
	author int // whose the token is; 0 until it is asked for
}

// api is what is used of GitLab. Each call is one request.
type api interface {
	noteAPI
	statusAPI
	artifactAPI
}

// New returns a client. It sends nothing yet.
func New(o Options) (*Client, error) {
	transport, err := newTransport(o)
	if err != nil {
		return nil, err
	}
	c := &Client{token: o.Token, settle: o.Settle}
	c.api, err = newLibrary(o.API, o.Token, transport, c.mask)
	return c, err
}

// Identify asks GitLab whose the token is. The other methods do so when they need
// it; who wants to do several learns first, and once, that none can work.
func (c *Client) Identify(ctx context.Context) error { return remedy(c.identify(ctx), "api") }

func (c *Client) identify(ctx context.Context) error {
	if c.author != 0 {
		return nil
	}
	err := repeat(ctx, requestTimeout, func(ctx context.Context) (err error) {
		c.author, err = c.api.me(ctx)
		return err
	})
	if err == nil && c.author == 0 {
		err = errors.New("GitLab does not say")
	}
	if err != nil {
		return fmt.Errorf("asking whose the token is: %w", err)
	}
	return nil
}

// mask replaces the token in what a server says.
func (c *Client) mask(text string) string { return Mask(text, c.token) }

// Mask replaces tokens in a text, in every form that a server or a log may give
// them.
func Mask(text string, tokens ...Token) string {
	var secrets []string
	for _, t := range tokens {
		secrets = append(secrets, t.Value)
	}
	return mask.New(secrets).Text(text)
}

// maxText bounds what is shown of an answer, in runes.
const maxText = 300

// A RefusedError is an answer of GitLab with another status than success.
type RefusedError struct {
	Status int
	// Text is the first of what GitLab said, harmless and without the token.
	Text  string
	after time.Duration // how long to wait; 0 when it does not say
}

func (e *RefusedError) Error() string {
	text := fmt.Sprintf("status %d %s", e.Status, http.StatusText(e.Status))
	if e.Text != "" {
		text += ": " + e.Text
	}
	return text
}

// shown makes what a server said fit for a line.
func shown(text string, mask func(string) string) string {
	text = mask(sanitize.Line(text))
	if runes := []rune(text); len(runes) > maxText {
		text = string(runes[:maxText]) + "…"
	}
	return text
}

// pages calls list for one page after another until there are no more.
func pages[T any](ctx context.Context, most int, list func(ctx context.Context, page int) ([]T, bool, error)) ([]T, error) {
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
