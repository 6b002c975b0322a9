package repositories

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/outward"
	"github.com/app-sre/prcheck/internal/retry"
)

// maxRedirects bounds how often a server may send us elsewhere on itself, as it does after a
// repository was renamed.
const maxRedirects = 3

// errOther says that the server is not one of git, or not of the version that was asked for.
var errOther = errors.New("the server does not answer as a server of git does")

// ask sends a request to a repository and returns the body of the answer, and the address of the
// repository that answered. body is nil for a GET.
func (r *Repositories) ask(ctx context.Context, to outward.Party, address, suffix string,
	body []byte) ([]byte, string, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	for range maxRedirects {
		res, err := send(ctx, to, address+suffix, body) //nolint:bodyclose // read closes it
		if err != nil {
			return nil, "", err
		}
		raw, next, err := read(res, address, suffix)
		if next == "" {
			return raw, address, err
		}
		address = next
	}
	return nil, "", wrong("the server redirects more than %d times", maxRedirects)
}

func send(ctx context.Context, to outward.Party, address string, body []byte) (*http.Response, error) {
	method, content := http.MethodGet, io.Reader(http.NoBody)
	if body != nil {
		method, content = http.MethodPost, strings.NewReader(string(body))
	}
	req, err := http.NewRequestWithContext(ctx, method, address, content)
	if err != nil {
		return nil, wrong("%.200q is no address", withoutUser(address))
	}
	req.Header.Set("User-Agent", "git/2 prcheck")
	if body != nil {
		req.Header.Set("Git-Protocol", "version=2")
		req.Header.Set("Content-Type", "application/x-git-upload-pack-request")
		req.Header.Set("Accept", resultType)
	}
	res, err := to.Transport().RoundTrip(req)
	if err != nil {
		return nil, outward.Explain(ctx, "the server", err)
	}
	return res, nil
}

// user returns the name for a token.
func user(of services.Repository) string {
	if of.User == "" {
		return "oauth2" // GitLab and GitHub take any
	}
	return of.User
}

// The types of answers.
const (
	resultType = "application/x-git-upload-pack-result"
	listType   = "application/x-git-upload-pack-advertisement"
)

// maxAnswer bounds an answer with names of branches.
const maxAnswer = 32 << 20

// read reads an answer. next is where the server sends us on itself, "" if it answered.
func read(res *http.Response, address, suffix string) (raw []byte, next string, err error) {
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	switch status := res.StatusCode; {
	case status == http.StatusOK:
	case status >= 300 && status < 400:
		next, err = redirect(res, address, suffix)
		return nil, next, err
	case status == http.StatusNotFound || status == http.StatusGone:
		return nil, "", services.ErrNotThere
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return nil, "", wrong("the server answers %d: look at the credentials, and whether they may read the repository",
			status)
	case status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status >= 500:
		after, _ := retry.After(res.Header, time.Now())
		return nil, "", &busyError{status, after}
	default:
		return nil, "", errOther
	}
	if kind := res.Header.Get("Content-Type"); kind != resultType && kind != listType {
		return nil, "", errOther
	}
	raw, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, "", lost("the answer of the server is cut off")
	case len(raw) > maxAnswer:
		return nil, "", wrong("the server names more than %d MiB of branches", maxAnswer>>20)
	}
	return raw, "", nil
}

// redirect returns the address of the repository to which the server sends us on itself.
func redirect(res *http.Response, address, suffix string) (string, error) {
	to, err := res.Location()
	if err != nil {
		return "", errOther
	}
	next, ok := strings.CutSuffix(to.String(), suffix)
	if !ok || next == address {
		return "", errOther
	}
	return next, nil
}
