package integration

import (
	"fmt"
	"net/http"
	"time"

	"github.com/app-sre/prcheck/internal/origin"
	"github.com/app-sre/prcheck/internal/outward"
)

// requestTime is how long one request of a client may take.
const requestTime = time.Minute

// Client returns a client for services that are not clusters or buckets, wherever they are: [Environment.ClientFor] is
// safer. It refuses to send anything but GET and HEAD, so that a dry run cannot write.
func (Environment) Client() *http.Client {
	return &http.Client{Timeout: requestTime, Transport: reading{http.DefaultTransport}}
}

// ClientFor returns a client that sends GET and HEAD to one server alone, with a value of the header Authorization; ""
// is none. A redirect is an error, and so is everything that is to go elsewhere.
func (Environment) ClientFor(server, authorization string) (*http.Client, error) {
	at, err := origin.Parse(server)
	if err != nil {
		return nil, Failure(FailureOfConfig, fmt.Errorf("the address %.200q: %w", server, err))
	}
	return outward.Party{At: at, Authorization: authorization, Timeout: requestTime}.Client(), nil
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
