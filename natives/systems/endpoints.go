package systems

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/origin"
	"github.com/app-sre/prcheck/internal/outward"
)

// An endpoint sends requests to one API, with its token.
type endpoint struct {
	*Systems
	ref integration.EndpointRef
	to  outward.Party
	may func(*http.Request) bool // what else than GET, HEAD and the POSTs that read
}

// EndpointReader returns what sends requests to an API that change nothing.
func (s *Systems) EndpointReader(_ context.Context, ref integration.EndpointRef) (http.RoundTripper, error) {
	return s.endpoint(endpoint{ref: ref})
}

// EndpointTrial returns what sends requests to an API that change nothing, because they are GET
// or HEAD or say dryRun=All.
func (s *Systems) EndpointTrial(_ context.Context, ref integration.EndpointRef) (http.RoundTripper, error) {
	return s.endpoint(endpoint{ref: ref, may: isTrial})
}

// Endpoint returns what sends requests to an API that change nothing, and those that may be sent.
func (s *Systems) Endpoint(ref integration.EndpointRef, may func(*http.Request) bool) (http.RoundTripper, error) {
	return s.endpoint(endpoint{ref: ref, may: may})
}

func (s *Systems) endpoint(e endpoint) (http.RoundTripper, error) {
	at, err := origin.Server(e.ref.URL)
	if err != nil {
		return nil, asConfig(fmt.Errorf("the API %.100q: its address is wrong: %w", e.ref.Name, err))
	}
	hasLogin := e.ref.Token != (integration.SecretRef{}) || e.ref.Login != (integration.Login{})
	if e.ref.Insecure && !origin.IsThisMachine(at.Host) && hasLogin {
		return nil,
			asConfig(fmt.Errorf("the API %.100q: a token is sent only to a server whose certificate is checked: remove insecure",
				e.ref.Name))
	}
	if err := checkLogin(e.ref); err != nil {
		return nil, asConfig(fmt.Errorf("the API %.100q: %w", e.ref.Name, err))
	}
	e.Systems = s
	e.to = outward.Party{At: at, May: e.mayBeSent, Insecure: e.ref.Insecure, Remedy: outward.NameInData,
		Header: e.ref.Login.Header}
	return e, nil
}

// RoundTrip implements [http.RoundTripper].
func (e endpoint) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := e.send(req)
	if outward.IsRefused(err) {
		return nil, fmt.Errorf("the API %.100q: %w", e.ref.Name, err)
	}
	return res, err
}

// send sends a request with the credential that holds now. The secret is not read for a request that is not sent. What
// the API answers with 401 is sent once more, if there is another credential.
func (e endpoint) send(req *http.Request) (*http.Response, error) {
	err := e.to.Check(req)
	value := ""
	if err == nil {
		if value, err = e.credential(req.Context(), ""); err != nil {
			err = fmt.Errorf("the token of the API %.100q: %w", e.ref.Name, err)
		}
	}
	if err != nil {
		closeBody(req)
		return nil, err
	}
	again := repeated(req)
	res, err := e.with(value).RoundTrip(req)
	if err != nil || res.StatusCode != http.StatusUnauthorized || value == "" || again == nil {
		closeBody(again)
		return res, err
	}
	fresh, err := e.credential(req.Context(), value)
	if err != nil || fresh == value {
		closeBody(again)
		if err != nil {
			drain(res)
			return nil, fmt.Errorf("the token of the API %.100q, after it was refused: %w", e.ref.Name, err)
		}
		return res, nil
	}
	drain(res)
	return e.with(fresh).RoundTrip(again)
}

// with returns what sends requests with a credential.
func (e endpoint) with(value string) http.RoundTripper {
	to := e.to
	to.Authorization = value
	return to.Transport()
}

func closeBody(req *http.Request) {
	if req != nil && req.Body != nil {
		_ = req.Body.Close() // nothing was sent
	}
}

// mayBeSent reports whether a request may be sent that is neither GET nor HEAD: a POST that only reads, and what the
// holder of the endpoint may do.
func (e endpoint) mayBeSent(req *http.Request) bool {
	path := req.URL.EscapedPath()
	isReading := req.Method == http.MethodPost && slices.Contains(e.ref.Reads, path[strings.LastIndexByte(path, '/')+1:])
	return isReading || e.may != nil && e.may(req)
}

// isTrial reports whether the server keeps nothing of a request.
func isTrial(req *http.Request) bool { return slices.Equal(req.URL.Query()["dryRun"], []string{"All"}) }
