package integration

import (
	"fmt"
	"net/http"
	"time"
)

// requestTime is how long one request of a client may take.
const requestTime = time.Minute

// Client returns a client for services that are not clusters or buckets. It refuses to send
// anything but GET and HEAD, so that a dry run cannot write.
func (Environment) Client() *http.Client {
	return &http.Client{Timeout: requestTime, Transport: reading{http.DefaultTransport}}
}

// Client returns a client that sends every request.
func (Actors) Client() *http.Client { return &http.Client{Timeout: requestTime} }

// A reading transport sends only requests that change nothing.
type reading struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (r reading) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		if req.Body != nil {
			_ = req.Body.Close() // the error says why nothing was sent
		}
		return nil, fmt.Errorf("a dry run sends no %s", req.Method)
	}
	return r.RoundTripper.RoundTrip(req)
}
