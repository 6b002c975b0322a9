package systems

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"time"

	"github.com/hashicorp/vault/api"
)

// loginAgain is how old a login must be at least before a refusal makes a new one. What is
// really forbidden does not cause a login for each secret.
const loginAgain = time.Minute

// noLogin is the number of no login.
const noLogin = 0

// A session is a login at Vault.
type session struct {
	turn      chan struct{} // holds one value, which is taken to look at the session
	number    int           // counts logins
	since     time.Time     // of the last login
	lease     time.Duration // of the token; 0 is for ever
	renewable bool
	renewed   time.Time // since when the lease runs
}

func newSession() session {
	turn := make(chan struct{}, 1)
	turn <- struct{}{}
	return session{turn: turn}
}

// login gives the client that reads a valid token, and returns the number of the login. When
// two thirds of a lease are over, the token is renewed or, if that fails, a new one is fetched.
// If the token of the login refused was refused, a new one is fetched, unless another goroutine
// has done so, or the token is very new.
func (v *vault) login(ctx context.Context, c clients, refused int) (number int, err error) {
	s := &v.session
	select {
	case <-s.turn:
		defer func() { s.turn <- struct{}{} }()
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	age := v.now().Sub(s.renewed)
	isOld := s.lease > 0 && age >= s.lease*2/3
	isRefused := s.number == refused && v.now().Sub(s.since) >= loginAgain && v.settings.TokenEnv == ""
	switch {
	case s.number == noLogin:
	case isRefused:
	case !isOld, s.renewable && age < s.lease && v.renew(ctx, c.read):
		return s.number, nil
	}
	token, err := v.fetchToken(ctx, c.login)
	if err != nil {
		return 0, fmt.Errorf("logging in to Vault: %w", err)
	}
	v.learn(token.text)
	c.read.SetToken(token.text)
	s.number++
	s.since, s.renewed, s.lease, s.renewable = v.now(), v.now(), token.lease, token.renewable
	return s.number, nil
}

// renew renews the token, and reports whether it could.
func (v *vault) renew(ctx context.Context, c *api.Client) bool {
	answer, err := c.Auth().Token().RenewSelfWithContext(ctx, 0)
	if err != nil || answer == nil || answer.Auth == nil || answer.Auth.LeaseDuration <= 0 {
		return false
	}
	v.session.renewed, v.session.lease = v.now(), seconds(answer.Auth.LeaseDuration)
	return true
}

// A token is what Vault gives for a login.
type token struct {
	text      string
	lease     time.Duration // 0 is for ever
	renewable bool
}

// fetchToken logs in in the way that the settings say. What it sends is learned before.
func (v *vault) fetchToken(ctx context.Context, c *api.Client) (token, error) {
	switch as := v.settings; {
	case as.TokenEnv != "":
		text, err := v.variable(as.TokenEnv)
		return token{text: text}, err
	case as.AppRole != nil:
		id, err := v.variable(as.AppRole.RoleIDEnv)
		if err != nil {
			return token{}, err
		}
		secret, err := v.variable(as.AppRole.SecretIDEnv)
		if err != nil {
			return token{}, err
		}
		return v.exchange(ctx, c, as.AppRole.Mount, map[string]any{"role_id": id, "secret_id": secret})
	case as.Kubernetes != nil:
		jwt, err := readFile(as.Kubernetes.TokenFile)
		if err != nil {
			return token{}, asConfig(fmt.Errorf("reading the token of the service account: %w", err))
		}
		v.learn(jwt)
		return v.exchange(ctx, c, as.Kubernetes.Mount, map[string]any{"role": as.Kubernetes.Role, "jwt": jwt})
	}
	return token{}, wrong("prcheck.yaml names no way to log in")
}

// variable returns a secret of the environment, and makes it known.
func (v *vault) variable(name string) (string, error) {
	value := v.getenv(name)
	if value == "" {
		return "", asConfig(fmt.Errorf("the variable %s is not set", name))
	}
	v.learn(value)
	return value, nil
}

// exchange sends what proves who we are, and returns the token that the server gives for it.
func (v *vault) exchange(ctx context.Context, c *api.Client, mount string, proof map[string]any) (token, error) {
	answer, err := c.Logical().WriteWithContext(ctx, path.Join("auth", mount, "login"), proof)
	if status := statusOf(err); status == http.StatusBadRequest || status == http.StatusForbidden {
		return token{}, asConfig(fmt.Errorf("%s refuses it (%d): look at the role, and whether its secret is still valid",
			v.settings.Server, status))
	}
	if err == nil && (answer == nil || answer.Auth == nil || answer.Auth.ClientToken == "") {
		err = errNoToken
	}
	if err != nil {
		return token{}, v.explain(ctx, err, "look at the role")
	}
	return token{answer.Auth.ClientToken, seconds(answer.Auth.LeaseDuration), answer.Auth.Renewable}, nil
}

var errNoToken = errors.New("no token")

// seconds returns a number of seconds as a duration.
func seconds(n int) time.Duration { return time.Duration(n) * time.Second }
