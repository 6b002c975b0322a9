package systems

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/origin"
	"github.com/app-sre/prcheck/internal/outward"
)

// The bounds of an exchange for a token.
const (
	tokenTime   = 30 * time.Second
	largestSite = 1 << 20 // bytes of the answer of a service of tokens
)

// A tokenKey says what a token was given for. APIs with the same login share their token.
type tokenKey struct {
	login  integration.Login
	secret integration.SecretRef
}

// A keptToken is the token of a login. It is fetched by one request at a time.
type keptToken struct {
	mu    sync.Mutex
	value string
	until time.Time // when it is renewed; zero: when the API refuses it
}

// tokenOf returns where the token of a login is kept.
func (s *shared) tokenOf(key tokenKey) *keptToken {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokens == nil {
		s.tokens = map[tokenKey]*keptToken{}
	}
	if s.tokens[key] == nil {
		s.tokens[key] = &keptToken{}
	}
	return s.tokens[key]
}

// checkLogin returns why nobody can log in in this way.
func checkLogin(ref integration.EndpointRef) error {
	l, hasSecret := ref.Login, ref.Token != (integration.SecretRef{})
	switch l.Kind {
	case "", integration.LoginBearer:
		return nil
	case integration.LoginHeader:
		if l.Header == "" || !hasSecret {
			return wrong("the login needs the name of a header and a secret")
		}
		return nil
	case integration.LoginBasic:
		if l.User == "" || strings.Contains(l.User, ":") || !hasSecret {
			return wrong("the login needs a user, without a colon, and a secret")
		}
		return nil
	case integration.LoginClient:
		if l.ClientID == "" || !hasSecret {
			return wrong("the login needs the id of a client and a secret")
		}
	case integration.LoginFederated:
		if l.ClientID == "" || l.TokenFile == "" {
			return wrong("the login needs the id of a client, and the settings must name the file of its token")
		}
	default:
		return wrong(fmt.Sprintf("there is no login of the kind %.50q", l.Kind))
	}
	if at, err := tokenServer(l.TokenURL); err != nil || !at.IsPrivate() {
		return wrong("the service of tokens must be https://HOST/PATH, without a user and without a fragment")
	}
	return nil
}

// tokenServer returns where the service of tokens is.
func tokenServer(address string) (origin.Origin, error) {
	u, err := url.Parse(address)
	if err != nil {
		return origin.Origin{}, err
	}
	if u.User != nil || u.Fragment != "" {
		return origin.Origin{}, errors.New("it has a user or a fragment")
	}
	return origin.Of(u)
}

// credential returns the value of the header that shows who asks. refused is a value that the API refused, "" for
// none: then another one is looked for, and if there is none the same is returned.
func (e endpoint) credential(ctx context.Context, refused string) (string, error) {
	switch e.ref.Login.Kind {
	case integration.LoginClient, integration.LoginFederated:
		return e.exchanged(ctx, refused)
	}
	if e.ref.Token == (integration.SecretRef{}) {
		return "", nil
	}
	if refused != "" {
		e.forget(e.ref.Token)
	}
	secret, err := e.Secret(ctx, e.ref.Token)
	if err != nil {
		return "", err
	}
	secret = strings.TrimSpace(secret)
	switch e.ref.Login.Kind {
	case integration.LoginHeader:
		return secret, nil
	case integration.LoginBasic:
		value := outward.Basic(e.ref.Login.User, secret)
		e.learn(strings.TrimPrefix(value, "Basic "))
		return value, nil
	}
	return outward.Bearer(secret), nil
}

// exchanged returns the token of a login, which is fetched if there is none, if nine tenths of its life are over, or if
// the API refused it.
func (e endpoint) exchanged(ctx context.Context, refused string) (string, error) {
	kept := e.tokenOf(tokenKey{e.ref.Login, e.ref.Token})
	kept.mu.Lock()
	defer kept.mu.Unlock()
	isOver := !kept.until.IsZero() && !e.now().Before(kept.until)
	if kept.value != "" && kept.value != refused && !isOver {
		return kept.value, nil
	}
	began := e.now()
	token, err := e.exchange(ctx)
	if err != nil {
		return "", err
	}
	kept.value, kept.until = outward.Bearer(token.AccessToken), time.Time{}
	if life := lifeOf(token); life > 0 {
		kept.until = began.Add(life / 10 * 9)
	}
	return kept.value, nil
}

// lifeOf returns how long a token lives, 0 if its service does not say it.
func lifeOf(t *oauth2.Token) time.Duration {
	const longest = 365 * 24 * 3600
	seconds, err := strconv.ParseFloat(fmt.Sprint(t.Extra("expires_in")), 64)
	if err != nil || seconds <= 0 {
		return 0
	}
	return time.Duration(min(seconds, longest) * float64(time.Second))
}

// exchange asks the service of tokens for one.
func (e endpoint) exchange(ctx context.Context) (*oauth2.Token, error) {
	l := e.ref.Login
	at, err := tokenServer(l.TokenURL)
	if err != nil {
		return nil, wrong("the service of tokens has no address")
	}
	to := outward.Party{At: at, Timeout: tokenTime, Largest: largestSite, May: func(req *http.Request) bool {
		return req.Method == http.MethodPost && req.URL.String() == l.TokenURL
	}}
	conf := clientcredentials.Config{ClientID: l.ClientID, TokenURL: l.TokenURL, Scopes: strings.Fields(l.Scope),
		AuthStyle: oauth2.AuthStyleInParams}
	switch l.Kind {
	case integration.LoginFederated:
		assertion, err := readFile(l.TokenFile)
		if err != nil || assertion == "" {
			return nil, wrong("the file with the token of the platform cannot be read, or is empty: see token_files in the settings")
		}
		e.learn(assertion)
		conf.EndpointParams = url.Values{"client_assertion": {assertion},
			"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}}
	default:
		secret, err := e.Secret(ctx, e.ref.Token)
		if err != nil {
			return nil, err
		}
		if conf.ClientSecret = strings.TrimSpace(secret); !l.InBody {
			conf.AuthStyle = oauth2.AuthStyleInHeader
			to.Authorization = outward.Basic(url.QueryEscape(l.ClientID), url.QueryEscape(conf.ClientSecret))
			e.learn(strings.TrimPrefix(to.Authorization, "Basic "))
		}
	}
	token, err := conf.Token(context.WithValue(ctx, oauth2.HTTPClient, to.Client()))
	if err != nil {
		return nil, explainExchange(ctx, at, err)
	}
	if kind := token.Type(); !strings.EqualFold(kind, "Bearer") {
		return nil, wrong(fmt.Sprintf("the service of tokens at %s gives tokens that are no bearer tokens", at))
	}
	e.learn(token.AccessToken)
	return token, nil
}

// exchangeCodes are the errors of a service of tokens that have a name of their own (RFC 6749).
var exchangeCodes = []string{"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client",
	"unsupported_grant_type", "invalid_scope"}

// explainExchange returns the error of an exchange for people, without words of the service: they could have a secret.
func explainExchange(ctx context.Context, at origin.Origin, err error) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		if _, isWeb := errors.AsType[*url.Error](err); !isWeb && ctx.Err() == nil {
			return asTransient(fmt.Errorf("the service of tokens at %s gives no token that can be read", at))
		}
		return outward.Explain(ctx, "the service of tokens at "+at.String(), err)
	}
	status := refused.Response.StatusCode
	why := fmt.Errorf("the service of tokens at %s answers %d", at, status)
	if slices.Contains(exchangeCodes, refused.ErrorCode) {
		why = fmt.Errorf("%w, %s", why, refused.ErrorCode)
	}
	if status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout {
		return asTransient(why)
	}
	return asConfig(fmt.Errorf("%w: look at the client, its secret and its scope", why))
}

// forget drops a secret that was kept, so that it is read anew.
func (s *shared) forget(ref integration.SecretRef) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, ref)
}

// repeated returns a request with the same body once more, nil if its body cannot be sent again.
func repeated(req *http.Request) *http.Request {
	out := req.Clone(req.Context())
	if req.Body == nil || req.Body == http.NoBody {
		return out
	}
	if req.GetBody == nil {
		return nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil
	}
	out.Body = body
	return out
}

// drain reads the rest of an answer that nobody needs, and closes it.
func drain(res *http.Response) {
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // it is only for the connection to be used again
	_ = res.Body.Close()                          // nothing of it is needed
}
