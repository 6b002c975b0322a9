package registry

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/origin"
	"github.com/app-sre/prcheck/internal/outward"
)

// A tokenKey says what a token is for.
type tokenKey struct {
	host, repository string
	login            services.Login
}

// A token is the value of the header Authorization.
type token struct {
	value string
	until time.Time
}

// The bounds of tokens.
const (
	maxToken  = 64 << 10
	leastLife = time.Minute // what a token lives that does not say it
	maxTokens = 10_000
)

func (r *Registry) token(key tokenKey) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.tokens[key]; r.now().Before(t.until) {
		return t.value
	}
	return ""
}

func (r *Registry) forget(key tokenKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.tokens, key)
}

func (r *Registry) keep(key tokenKey, t token) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.tokens) >= maxTokens {
		clear(r.tokens)
	}
	r.tokens[key] = t
}

// authorize returns what a registry wants to see, by its challenges.
func (r *Registry) authorize(ctx context.Context, of reference, image services.Image,
	challenges []string) (string, error) {
	for _, challenge := range challenges {
		scheme, rest, _ := strings.Cut(challenge, " ")
		switch {
		case strings.EqualFold(scheme, "Bearer"):
			return r.fetchToken(ctx, of, image, parameters(rest))
		case strings.EqualFold(scheme, "Basic") && image.Login != services.Login{}:
			value := outward.Basic(image.Login.User, image.Login.Password)
			r.keep(tokenKey{of.host, of.repository, image.Login}, token{value, r.now().Add(leastLife)})
			return value, nil
		}
	}
	return "", failed(http.StatusUnauthorized, nil, r.now())
}

// parameterForm matches one parameter of a challenge.
var parameterForm = lazyregexp.New(`([a-zA-Z]+)="([^"\\]*)"`)

// parameters returns the parameters of a challenge, by name.
func parameters(challenge string) map[string]string {
	out := map[string]string{}
	for _, found := range parameterForm.FindAllStringSubmatch(challenge, -1) {
		out[strings.ToLower(found[1])] = found[2]
	}
	return out
}

// fetchToken fetches a token for reading one repository, whatever else the registry names.
func (r *Registry) fetchToken(ctx context.Context, of reference, image services.Image,
	challenge map[string]string) (string, error) {
	realm, err := url.Parse(challenge["realm"])
	if err != nil {
		return "", errNoRealm
	}
	at, err := origin.Of(realm)
	if err != nil {
		return "", errNoRealm
	}
	if !givesTokens(of.host, at) && !outward.Hosts(image.TokensFrom).NameExactly(at) {
		return "", wrong("its tokens come from %.100q, which is another server: "+outward.AddToHosts, at)
	}
	query := realm.Query()
	query.Set("service", challenge["service"])
	query.Set("scope", "repository:"+of.repository+":pull")
	realm.RawQuery = query.Encode()
	to := outward.Party{At: at}
	if (image.Login != services.Login{}) {
		to.Authorization = outward.Basic(image.Login.User, image.Login.Password)
	}
	res, err := send(ctx, to, http.MethodGet, realm.String()) //nolint:bodyclose // readToken closes it
	if err != nil {
		return "", err
	}
	t, err := r.readToken(res)
	if err != nil {
		return "", err
	}
	r.keep(tokenKey{of.host, of.repository, image.Login}, t)
	return t.value, nil
}

// errNoRealm says that a registry names no server of tokens that can be asked.
var errNoRealm = lost("it does not say where its tokens come from")

// belong are the servers of tokens that belong to a registry of another name.
var belong = map[string]string{hub: "auth.docker.io", "registry.gitlab.com": "gitlab.com"}

// givesTokens reports whether a server gives the tokens of a registry, and gets its login, by itself: the registry, at
// its port, and a server that belongs to it.
func givesTokens(registry string, realm origin.Origin) bool {
	return realm.String() == registry || realm.Scheme == "https" && belong[registry] == realm.String()
}

// readToken reads the answer with a token.
func (r *Registry) readToken(res *http.Response) (t token, err error) {
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	if res.StatusCode != http.StatusOK {
		if res.StatusCode == http.StatusNotFound {
			return t, lost("the place of its tokens answers 404")
		}
		return t, failed(res.StatusCode, res.Header, r.now())
	}
	var answer struct {
		Token       string  `json:"token"`
		AccessToken string  `json:"access_token"`
		ExpiresIn   float64 `json:"expires_in"` // seconds
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxToken+1))
	if err != nil || len(raw) > maxToken || json.Unmarshal(raw, &answer) != nil {
		return t, lost("the place of its tokens answers nonsense")
	}
	value := answer.Token
	if value == "" {
		value = answer.AccessToken
	}
	if value == "" || strings.ContainsFunc(value, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
		return t, lost("the place of its tokens answers nonsense")
	}
	life := leastLife
	if 0 < answer.ExpiresIn && answer.ExpiresIn < 24*3600 {
		life = time.Duration(answer.ExpiresIn * float64(time.Second))
	}
	return token{outward.Bearer(value), r.now().Add(life * 2 / 3)}, nil
}
