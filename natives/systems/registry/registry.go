package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/origin"
	"github.com/app-sre/prcheck/internal/outward"
	"github.com/app-sre/prcheck/internal/retry"
)

// A Registry reads registries of images. Several goroutines may use it at once.
type Registry struct {
	timeout time.Duration // of one image, with its token
	policy  retry.Policy
	now     func() time.Time

	mu     sync.Mutex
	tokens map[tokenKey]token
}

var _ services.Registry = (*Registry)(nil)

// New returns a reader of registries. It asks nobody.
func New() *Registry { return WithPause(time.Second) }

// WithPause returns a reader of registries that waits at most so long before it asks for the second time.
func WithPause(pause time.Duration) *Registry {
	return &Registry{
		timeout: 20 * time.Second, now: time.Now,
		policy: retry.Policy{Attempts: 3, FirstPause: pause, MaxPause: 10 * pause, Spread: pause, Within: time.Minute},
		tokens: map[tokenKey]token{},
	}
}

// accepted are the types of manifests: lists for several platforms first.
var accepted = strings.Join([]string{
	"application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json",
	"application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json",
}, ", ")

// Digest implements [services.Registry].
func (r *Registry) Digest(ctx context.Context, image services.Image) (string, error) {
	of, ok := parse(image.Name)
	if !ok {
		return "", wrong("%.200q is no name of an image", image.Name)
	}
	var digest string
	err := r.policy.Do(ctx, func(ctx context.Context) (err error) {
		digest, err = r.digest(ctx, of, image)
		return err
	}, func(err error) (time.Duration, bool) {
		var busy *busyError
		if errors.As(err, &busy) {
			return busy.after, true
		}
		return 0, integration.ClassOfFailure(err) == integration.FailureTransient
	})
	if err != nil {
		return "", fmt.Errorf("asking %s for %.200q: %w", of.host, image.Name, err)
	}
	return digest, nil
}

// digest asks once, and again with a token if the registry wants one.
func (r *Registry) digest(ctx context.Context, of reference, image services.Image) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	key := tokenKey{of.host, of.repository, image.Login}
	sent := r.token(key)
	status, header, err := r.head(ctx, of, sent)
	if err == nil && status == http.StatusUnauthorized {
		r.forget(key)
		if sent, err = r.authorize(ctx, of, image, header.Values("WWW-Authenticate")); err == nil {
			status, header, err = r.head(ctx, of, sent)
		}
	}
	if err != nil {
		return "", err
	}
	return answer(of, status, header, r.now())
}

// answer returns what a registry says about an image.
func answer(of reference, status int, header http.Header, now time.Time) (string, error) {
	switch digest := header.Get("Docker-Content-Digest"); {
	case status == http.StatusOK && digestForm.MatchString(of.tag) && digest != of.tag:
		return "", lost("the registry answers for another digest")
	case status == http.StatusOK && digestForm.MatchString(digest):
		return digest, nil
	case status == http.StatusOK:
		return "", lost("the registry does not tell the digest")
	case status == http.StatusNotFound:
		return "", services.ErrNotThere
	default:
		return "", failed(status, header, now)
	}
}

// failed returns the error for an answer that is none.
func failed(status int, header http.Header, now time.Time) error {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return wrong("it answers %d: look at the login for images, and whether it may read them", status)
	case status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status >= 500:
		after, _ := retry.After(header, now)
		return &busyError{status, after}
	}
	return lost("it answers %d", status)
}

// head asks for an image. A 404 counts only from a registry: with the header of its API, or with
// an error of its API, for which the image is asked for once more. A page of something else says
// nothing.
func (r *Registry) head(ctx context.Context, of reference, authorization string) (int, http.Header, error) {
	to := outward.Party{At: of.registry(), Authorization: authorization}
	res, err := send(ctx, to, http.MethodHead, of.address())
	if err != nil {
		return 0, nil, err
	}
	if err := res.Body.Close(); err != nil {
		return 0, nil, lost("the connection failed")
	}
	if res.StatusCode != http.StatusNotFound || strings.HasPrefix(res.Header.Get("Docker-Distribution-Api-Version"),
		"registry/") {
		return res.StatusCode, res.Header, nil
	}
	if res, err = send(ctx, to, http.MethodGet, of.address()); err != nil {
		return 0, nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxToken))
	err = errors.Join(err, res.Body.Close())
	if err != nil || res.StatusCode != http.StatusNotFound || !isUnknown(raw) {
		return 0, nil, lost("it does not answer as a registry does")
	}
	return res.StatusCode, res.Header, nil
}

// isUnknown reports whether an answer says, in the words of the API, that there is no such image.
func isUnknown(raw []byte) bool {
	var answer struct {
		Errors []struct {
			Code string `json:"code"`
		} `json:"errors"`
	}
	if json.Unmarshal(raw, &answer) != nil {
		return false
	}
	for _, e := range answer.Errors {
		if e.Code == "MANIFEST_UNKNOWN" || e.Code == "NAME_UNKNOWN" || e.Code == "NOT_FOUND" {
			return true
		}
	}
	return false
}

// send sends a request without a body.
func send(ctx context.Context, to outward.Party, method, address string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, http.NoBody)
	if err != nil {
		return nil, wrong("%.200q is no address", address)
	}
	req.Header.Set("Accept", accepted)
	req.Header.Set("User-Agent", "prcheck")
	res, err := to.Transport().RoundTrip(req)
	if err != nil {
		return nil, outward.Explain(ctx, "it", err)
	}
	return res, nil
}

// wrong returns an error of the class config.
func wrong(format string, args ...any) error {
	return integration.Failure(integration.FailureOfConfig, fmt.Errorf(format, args...))
}

// lost returns an error of the class transient.
func lost(format string, args ...any) error {
	return integration.Failure(integration.FailureTransient, fmt.Errorf(format, args...))
}

// A busyError is the answer of a registry that may answer otherwise later.
type busyError struct {
	status int
	after  time.Duration // as it asks, or 0
}

// Error returns the status.
func (e *busyError) Error() string { return fmt.Sprintf("it answers %d", e.status) }

// FailureClass returns the class.
func (e *busyError) FailureClass() string { return string(integration.FailureTransient) }

// A reference is the name of an image in its parts.
type reference struct {
	host       string
	repository string
	tag        string // tag or digest
}

// The parts of names, as the distribution API has them.
var (
	hostForm       = lazyregexp.New(`^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:[0-9]{1,5})?$`)
	repositoryForm = lazyregexp.New(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
	tagForm        = lazyregexp.New(`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`)
	digestForm     = lazyregexp.New(`^sha(256:[0-9a-f]{64}|512:[0-9a-f]{128})$`)
)

// maxName bounds the length of the name of an image.
const maxName = 512

// parse takes the name of an image apart. Without a host it is one of Docker Hub, and without a
// tag it is the tag latest.
func parse(image string) (r reference, ok bool) {
	if len(image) > maxName {
		return r, false
	}
	name, digest, hasDigest := strings.Cut(image, "@")
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		name, r.tag = name[:i], name[i+1:]
		if !tagForm.MatchString(r.tag) {
			return r, false
		}
	}
	switch {
	case hasDigest && !digestForm.MatchString(digest):
		return r, false
	case hasDigest:
		r.tag = digest
	case r.tag == "":
		r.tag = "latest"
	}
	host, rest, hasHost := strings.Cut(name, "/")
	switch {
	case hasHost && (strings.ContainsAny(host, ".:") || host == "localhost"):
		r.host, r.repository = strings.ToLower(host), rest
	case hasHost:
		r.host, r.repository = hub, name
	default:
		r.host, r.repository = hub, "library/"+name
	}
	if r.host == "docker.io" || r.host == "index.docker.io" {
		r.host = hub
	}
	if r.host == hub && !strings.Contains(r.repository, "/") {
		r.repository = "library/" + r.repository
	}
	_, err := origin.OfHost(r.host)
	return r, err == nil && hostForm.MatchString(r.host) && repositoryForm.MatchString(r.repository)
}

// registry returns where the registry of the image is.
func (r reference) registry() origin.Origin {
	at, _ := origin.OfHost(r.host) // parse has looked
	return at
}

// address returns where the registry has the image.
func (r reference) address() string {
	return r.registry().Address() + "/v2/" + r.repository + "/manifests/" + r.tag
}

// hub is the host of Docker Hub's registry.
const hub = "registry-1.docker.io"
