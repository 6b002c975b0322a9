package jsonapi

import (
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
	Transport http.RoundTripper // nil is the usual one, with the proxy of the environment
	Timeout   time.Duration     // of one attempt; 0 is [Timeout]
	MaxBytes  int64             // of an answer; 0 is [MaxBytes]
	Pause     time.Duration     // before the second attempt, at most; 0 is two seconds
}

// errElsewhere is the error of a redirect to another server.
var errElsewhere = errors.New("it sends us to another server: name that one in the data, if you trust it")

// Get reads the JSON value at an address of a server.
func (c *Client) Get(ctx context.Context, server string, query url.Values, login services.Login, path []string, into any) error {
	base, err := url.Parse(server)
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Hostname() == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return config(errors.New("its address is none such as https://HOST: correct it in the data"))
	}
	at := base.JoinPath(path...)
	at.RawQuery = query.Encode()
	pause := c.Pause
	if pause == 0 {
		pause = 2 * time.Second
	}
	policy := retry.Policy{Attempts: 3, FirstPause: pause, MaxPause: 4 * pause, Within: 2 * time.Minute}
	return policy.Do(ctx, func(ctx context.Context) error { return c.get(ctx, at, login, into) }, func(err error) (time.Duration, bool) {
		return 0, integration.ClassOfFailure(err) == integration.FailureTransient
	})
}

// get sends one request.
func (c *Client) get(ctx context.Context, at *url.URL, login services.Login, into any) error {
	timeout, limit := c.Timeout, c.MaxBytes
	if timeout == 0 {
		timeout = Timeout
	}
	if limit == 0 {
		limit = MaxBytes
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return config(errors.New("its address is none: correct it in the data"))
	}
	req.Header.Set("Accept", "application/json")
	switch {
	case login.User != "":
		req.SetBasicAuth(login.User, login.Password)
	case login.Password != "":
		req.Header.Set("Authorization", "Bearer "+login.Password)
	}
	client := &http.Client{Transport: c.Transport, Timeout: timeout, CheckRedirect: stay}
	res, err := client.Do(req)
	if err != nil {
		return explain(ctx, err)
	}
	defer func() { _ = res.Body.Close() }() // it was read
	if err := status(res.StatusCode); err != nil {
		return err
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	switch {
	case err != nil:
		return explain(ctx, err)
	case int64(len(raw)) > limit:
		return config(fmt.Errorf("its answer has more than %d bytes", limit))
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

// stay refuses redirects to other servers.
func stay(to *http.Request, via []*http.Request) error {
	from := via[0].URL
	if to.URL.Scheme != from.Scheme || to.URL.Host != from.Host || len(via) > 5 {
		return errElsewhere
	}
	return nil
}

// explain returns an error of the connection without the address, which people know.
func explain(ctx context.Context, err error) error {
	var failed *url.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errElsewhere):
		return config(errElsewhere)
	case errors.As(err, &failed) && failed.Timeout():
		return transient(errors.New("it did not answer in time"))
	case errors.As(err, &failed):
		err = failed.Err
	}
	return transient(fmt.Errorf("it cannot be reached: %w", err))
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
