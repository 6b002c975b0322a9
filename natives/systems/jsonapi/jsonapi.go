package jsonapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/origin"
	"github.com/app-sre/prcheck/internal/outward"
	"github.com/app-sre/prcheck/internal/retry"
)

// The bounds of a request if the client does not say.
const (
	Timeout  = 30 * time.Second
	MaxBytes = 32 << 20
)

// ErrNotFound says that the server answered that it has no such address.
var ErrNotFound = errors.New("the server answered 404 (not found): correct the address in the data")

// A Client reads from services. The zero value works. Several goroutines may use it at once.
type Client struct {
	Timeout  time.Duration // of one attempt; 0 is [Timeout]
	MaxBytes int64         // of an answer; 0 is [MaxBytes]
	Pause    time.Duration // before the second attempt, at most; 0 is two seconds
}

// maxRedirects is how many redirects on the server itself are followed.
const maxRedirects = 5

// Get reads the JSON value at an address of a server.
func (c *Client) Get(ctx context.Context, server string, query url.Values, login services.Login, path []string,
	into any) error {
	base, to, err := c.party(server, login)
	if err != nil {
		return config(err)
	}
	at := base.JoinPath(path...)
	at.RawQuery = query.Encode()
	pause := cmp.Or(c.Pause, 2*time.Second)
	policy := retry.Policy{Attempts: 3, FirstPause: pause, MaxPause: 4 * pause, Within: 2 * time.Minute}
	return policy.Do(ctx, func(ctx context.Context) error {
		return get(ctx, to, at, into)
	}, func(err error) (time.Duration, bool) {
		return 0, integration.ClassOfFailure(err) == integration.FailureTransient
	})
}

// party returns the address of a server, and what may be sent there.
func (c *Client) party(server string, login services.Login) (*url.URL, outward.Party, error) {
	to := outward.Party{Follows: maxRedirects, Timeout: cmp.Or(c.Timeout, Timeout), Largest: cmp.Or(c.MaxBytes, MaxBytes),
		Remedy: outward.NameInData}
	switch {
	case login.User != "":
		to.Authorization = outward.Basic(login.User, login.Password)
	case login.Password != "":
		to.Authorization = outward.Bearer(login.Password)
	}
	base, err := url.Parse(server)
	if err == nil {
		to.At, err = origin.Any(base)
	}
	if err != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, to, errors.New("its address is none such as https://HOST: correct it in the data")
	}
	return base, to, nil
}

// get sends one request.
func get(ctx context.Context, to outward.Party, at *url.URL, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), http.NoBody)
	if err != nil {
		return config(errors.New("its address is none: correct it in the data"))
	}
	req.Header.Set("Accept", "application/json")
	res, err := to.Client().Do(req)
	if err != nil {
		return outward.Explain(ctx, "it", err)
	}
	defer func() { _ = res.Body.Close() }() // it was read
	if err := status(res.StatusCode); err != nil {
		return err
	}
	raw, err := io.ReadAll(res.Body)
	switch {
	case errors.Is(err, outward.ErrTooLong):
		return config(err)
	case err != nil:
		return outward.Explain(ctx, "it", err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return transient(errors.New("its answer is not the JSON that we asked for"))
	}
	return nil
}

// Name returns what an error may say of the address of a server: its host. Data can put
// credentials into the rest.
func Name(server string) string {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" {
		return "a server without a name"
	}
	return u.Host
}

// status returns the error of a status that is not a success.
func status(code int) error {
	text := fmt.Sprintf("it answered %d (%s)", code, http.StatusText(code))
	switch {
	case code == http.StatusOK:
		return nil
	case code == http.StatusNotFound:
		return config(ErrNotFound)
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return config(errors.New(text + ": look at the credentials that the data name, and at their rights"))
	case code == http.StatusTooManyRequests, code >= 500:
		return transient(errors.New(text))
	}
	return config(errors.New(text))
}

func config(err error) error    { return integration.Failure(integration.FailureOfConfig, err) }
func transient(err error) error { return integration.Failure(integration.FailureTransient, err) }
