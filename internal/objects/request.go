package objects

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/aws/smithy-go/encoding/httpbinding"
)

// A request is one call of S3.
type request struct {
	method      string
	bucket, key string
	query       url.Values
	header      map[string]string
	body        io.ReaderAt // nil for none
	size        int64       // of the body
}

// hash returns the SHA-256 of the body, which the signature covers.
func (r request) hash() (string, error) {
	h := sha256.New()
	if r.body != nil {
		if _, err := io.Copy(h, io.NewSectionReader(r.body, 0, r.size)); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// largeBody is the size from which a body is sent only after the store has agreed
// to take it.
const largeBody = 2 << 20

// build makes the HTTP request. Each attempt has its own, since the transport may
// still read the body of an earlier one.
func (r request) build(ctx context.Context, s site) (*http.Request, error) {
	u := s.address(r.bucket)
	if r.key != "" || u.Path == "" {
		u.Path += "/" + r.key
	}
	u.RawPath = httpbinding.EscapePath(u.Path, false)
	u.RawQuery = r.query.Encode()
	req, err := http.NewRequestWithContext(ctx, r.method, u.String(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("the address of the object: %w", err)
	}
	req.Header.Set("User-Agent", "prcheck")
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	if r.method != http.MethodPut {
		return req, nil
	}
	req.Header.Set("Content-Type", "application/octet-stream")
	if r.size > largeBody {
		req.Header.Set("Expect", "100-continue")
	}
	if r.size > 0 {
		req.ContentLength = r.size
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(r.body, 0, r.size)), nil }
		req.Body, err = req.GetBody()
	}
	return req, err
}
