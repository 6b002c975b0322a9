package repositories

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/internal/origin"
	"github.com/app-sre/prcheck/internal/outward"
	"github.com/app-sre/prcheck/internal/retry"
)

// Repositories read git repositories. Several goroutines may use them at once.
type Repositories struct {
	timeout time.Duration // of one request
	policy  retry.Policy

	mu      sync.Mutex
	folder  string            // "" until it is needed
	places  map[string]*place // by address without .git
	mirrors map[mirrorKey]*git.Mirror
}

var _ services.Repositories = (*Repositories)(nil)

// A place is where a repository answers.
type place struct {
	mu      sync.Mutex // held while the repository is fetched from
	address string     // "" until it answered
	isOld   bool       // it does not speak version 2
}

// New returns a reader of repositories. It asks nobody.
func New() *Repositories { return WithPause(time.Second) }

// WithPause returns a reader of repositories that waits at most so long before it asks for the second time.
func WithPause(pause time.Duration) *Repositories {
	return &Repositories{
		timeout: 30 * time.Second,
		policy:  retry.Policy{Attempts: 3, FirstPause: pause, MaxPause: 10 * pause, Spread: pause, Within: time.Minute},
		places:  map[string]*place{}, mirrors: map[mirrorKey]*git.Mirror{},
	}
}

// Close removes what was fetched. The reader fetches again if it is used afterwards.
func (r *Repositories) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	folder := r.folder
	r.folder, r.mirrors = "", map[mirrorKey]*git.Mirror{}
	if folder == "" {
		return nil
	}
	return os.RemoveAll(folder)
}

// place returns what is known of a repository.
func (r *Repositories) place(address string) *place {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.places[address]
	if !ok {
		known = &place{}
		r.places[address] = known
	}
	return known
}

// wrong returns an error of the class config.
func wrong(format string, args ...any) error {
	return integration.Failure(integration.FailureOfConfig, fmt.Errorf(format, args...))
}

// lost returns an error of the class transient.
func lost(format string, args ...any) error {
	return integration.Failure(integration.FailureTransient, fmt.Errorf(format, args...))
}

// check returns the address of a repository without .git at its end, and its server with the credential.
func check(of services.Repository) (string, outward.Party, error) {
	to := outward.Party{May: isQuestion, Follows: maxRedirects, Remedy: outward.NameInData}
	u, err := url.Parse(of.URL)
	if err == nil {
		bare := *u
		bare.User = nil
		to.At, err = origin.Any(&bare)
	}
	switch {
	case err != nil:
		return "", to, wrong("%.200q is no address of a repository such as https://HOST/PATH", withoutUser(of.URL))
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(of.URL, "\n\r\x00 '\"\\"):
		return "", to, wrong("the address %.200q must have no user, no query and no other signs", withoutUser(of.URL))
	}
	if of.Password != "" {
		to.Authorization = outward.Basic(user(of), of.Password)
	}
	return strings.TrimSuffix(strings.TrimRight(of.URL, "/"), ".git"), to, nil
}

// isQuestion reports whether a request asks for branches. It writes nothing.
func isQuestion(req *http.Request) bool {
	return req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/git-upload-pack")
}

// withoutUser returns an address without what may be credentials.
func withoutUser(address string) string {
	begin, rest, ok := strings.Cut(address, "://")
	if !ok {
		return "(address)"
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	rest, _, _ = strings.Cut(rest, "?")
	return begin + "://" + rest
}

// isClassed reports whether somebody said what kind of failure an error is.
func isClassed(err error) bool { return integration.ClassOfFailure(err) != "" }

// again repeats a request that may succeed later.
func (r *Repositories) again(ctx context.Context, do func(context.Context) error) error {
	return r.policy.Do(ctx, do, func(err error) (time.Duration, bool) {
		var busy *busyError
		if errors.As(err, &busy) {
			return busy.after, true
		}
		return 0, integration.ClassOfFailure(err) == integration.FailureTransient
	})
}

// A busyError is the answer of a server that may answer otherwise later.
type busyError struct {
	status int
	after  time.Duration // as it asks, or 0
}

// Error returns the status.
func (e *busyError) Error() string { return fmt.Sprintf("the server answers %d", e.status) }

// FailureClass returns the class.
func (e *busyError) FailureClass() string { return string(integration.FailureTransient) }
