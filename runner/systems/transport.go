package systems

import (
	"errors"
	"io"
	"net/http"
)

// maxAnswer is how many bytes an answer of Vault may have. A secret is one field of it.
const maxAnswer = 2 << 20

// Errors of answers that are not looked at.
var (
	errLong     = errors.New("its answer is too long for a secret")
	errRedirect = errors.New("it sends us to another address: name that one under secrets.vault.server in prcheck.yaml, if you trust it")
)

// A bounded transport refuses redirects, because a token would go to another server, and
// answers that are too long.
type bounded struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		return nil, errors.Join(errRedirect, res.Body.Close())
	}
	res.Body = &boundedBody{ReadCloser: res.Body, left: maxAnswer, tooLong: errLong}
	return res, nil
}

// A boundedBody is a body that ends with an error after a number of bytes.
type boundedBody struct {
	io.ReadCloser
	left    int
	tooLong error
}

// Read implements [io.Reader].
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, b.tooLong
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
