package outward

import (
	"cmp"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/app-sre/prcheck/internal/origin"
)

// Basic returns the header Authorization of a user with a password.
func Basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// Bearer returns the header Authorization of a token.
func Bearer(token string) string { return "Bearer " + token }

// Client returns what sends requests to the party, and follows the redirects that it allows.
func (p Party) Client() *http.Client {
	return &http.Client{Transport: p.Transport(), Timeout: p.Timeout,
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) > p.Follows {
				return p.refuse("it sends us to another address more than %d times", p.Follows)
			}
			return nil
		}}
}

// Transport returns what sends requests to the party, and follows no redirect by itself.
func (p Party) Transport() http.RoundTripper { return transport{p} }

// A transport sends requests to one party.
type transport struct{ to Party }

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := t.to.Check(req); err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // nothing was sent
		}
		return nil, err
	}
	out := req.Clone(req.Context())
	out.Header.Del("Authorization")
	if t.to.Authorization != "" {
		out.Header.Set(cmp.Or(t.to.Header, "Authorization"), t.to.Authorization)
	}
	checked, unchecked := connections()
	if t.to.Insecure {
		checked = unchecked
	}
	res, err := checked.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	if err := t.to.checkRedirect(res); err != nil {
		return nil, errors.Join(err, res.Body.Close())
	}
	most := t.to.Largest
	if most == 0 {
		most = largest
	}
	res.Request, res.Body = req, &body{ReadCloser: res.Body, most: most}
	return res, nil
}

// checkRedirect returns why a redirect is not followed.
func (p Party) checkRedirect(res *http.Response) error {
	if res.StatusCode < 300 || res.StatusCode >= 400 || res.StatusCode == http.StatusNotModified {
		return nil
	}
	if to, err := res.Location(); p.Follows > 0 && err == nil {
		if at, err := origin.Any(to); err == nil && at == p.At {
			return nil
		}
	}
	return p.refuse("it sends us to another address")
}

// ErrTooLong says that an answer has more bytes than it may have.
var ErrTooLong = errors.New("its answer is too long")

// A body is the body of an answer that ends with an error after a number of bytes.
type body struct {
	io.ReadCloser
	most, read int64
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	if b.read > b.most {
		return 0, fmt.Errorf("%w: it has more than %d bytes", ErrTooLong, b.most)
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.most+1-b.read)])
	if b.read += int64(n); b.read > b.most {
		return n - 1, nil
	}
	return n, err
}

// connections returns what sends requests with and without a look at the certificate of the server. They are made
// once, from the usual transport of the process, with the proxy of the environment.
var connections = sync.OnceValues(func() (checked, unchecked http.RoundTripper) {
	own, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport, http.DefaultTransport
	}
	plain, open := own.Clone(), own.Clone()
	plain.MaxIdleConnsPerHost, open.MaxIdleConnsPerHost = maxIdle, maxIdle
	open.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the data of base say so
	return plain, open
})

// maxIdle is how many connections to one host are kept.
const maxIdle = 32
