package systems

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/vault/api"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/origin"
	"github.com/app-sre/prcheck/internal/outward"
	"github.com/app-sre/prcheck/settings"
)

// The bounds of the requests to Vault.
const (
	vaultTime    = 30 * time.Second // of a request with all its attempts
	vaultRetries = 2
	vaultPause   = 2 * time.Second // before another attempt, at most
	maxAnswer    = 2 << 20         // bytes; a secret is one field of an answer
)

// A vault is a server of HashiCorp Vault with the KV engine of version 2.
type vault struct {
	settings settings.Vault
	getenv   func(string) string
	learn    func(string)
	now      func() time.Time
	timeout  time.Duration
	pause    time.Duration
	clients  func() (clients, error) // makes the clients once
	session  session
}

// Clients send requests to Vault. That for the login never has a token, so that others can
// read while a new token is fetched.
type clients struct{ read, login *api.Client }

func newVault(source settings.Vault, getenv func(string) string, learn func(string)) *vault {
	v := &vault{settings: source, getenv: getenv, learn: learn, now: time.Now, timeout: vaultTime, pause: vaultPause,
		session: newSession()}
	v.clients = sync.OnceValues(func() (out clients, err error) {
		if out.read, err = v.newClient(isLogin); err == nil {
			out.login, err = v.newClient(isLogin)
		}
		return out, err
	})
	return v
}

// newClient returns a client that looks at the settings alone, and not at the environment. may says what it sends
// beside GET.
func (v *vault) newClient(may func(*http.Request) bool) (*api.Client, error) {
	at, err := origin.Parse(v.settings.Server)
	if err != nil {
		return nil, asConfig(fmt.Errorf("the address of Vault: %w", err))
	}
	server := outward.Party{At: at, May: may, Largest: maxAnswer,
		Remedy: "name that one under secrets.vault.server in prcheck.yaml, if you trust it"}
	config := &api.Config{
		Address: v.settings.Server, HttpClient: server.Client(),
		Timeout: v.timeout, MaxRetries: vaultRetries, MinRetryWait: v.pause / 2, MaxRetryWait: v.pause,
		DisableRedirects: true,
		Backoff: func(least, most time.Duration, attempt int, _ *http.Response) time.Duration {
			return min(least<<attempt, most)
		},
		CheckRetry: func(ctx context.Context, res *http.Response, err error) (bool, error) {
			if outward.IsRefused(err) {
				return false, err
			}
			return api.DefaultRetryPolicy(ctx, res, err)
		},
	}
	c, err := api.NewClient(config)
	if err != nil {
		return nil, asConfig(fmt.Errorf("reaching Vault: %w", err))
	}
	c.ClearToken()
	c.ClearNamespace()
	if v.settings.Namespace != "" {
		c.SetNamespace(v.settings.Namespace)
	}
	return c, nil
}

// isLogin reports whether a request logs in, or renews a login.
func isLogin(req *http.Request) bool { return strings.HasPrefix(req.URL.Path, "/v1/auth/") }

func (v *vault) read(ctx context.Context, ref integration.SecretRef) (string, error) {
	mount, path, err := v.place(ref)
	if err != nil {
		return "", err
	}
	c, err := v.clients()
	if err != nil {
		return "", err
	}
	login, err := v.login(ctx, c, noLogin)
	if err != nil {
		return "", err
	}
	found, err := get(ctx, c.read.KVv2(mount), path, ref.Version)
	if statusOf(err) == http.StatusForbidden {
		again, failed := v.login(ctx, c, login)
		if failed != nil {
			return "", failed
		}
		if again != login {
			found, err = get(ctx, c.read.KVv2(mount), path, ref.Version)
		}
	}
	if err != nil {
		return "", v.explain(ctx, err, fmt.Sprintf("let the policy of the login read %s/data/%s", mount, path))
	}
	return fieldOf(found, ref.Field)
}

// place returns the mount of a secret, and the path there.
func (v *vault) place(ref integration.SecretRef) (mount, path string, err error) {
	if v.settings.Mount != "" {
		return v.settings.Mount, ref.Path, nil
	}
	mount, path, ok := strings.Cut(ref.Path, "/")
	if !ok {
		return "", "", wrong("its path must begin with the mount of its engine, such as team/creds, or name the mount " +
			"under secrets.vault in prcheck.yaml")
	}
	return mount, path, nil
}

// get reads a version of a secret; "" is the latest.
func get(ctx context.Context, kv *api.KVv2, path, version string) (*api.KVSecret, error) {
	if version == "" {
		return kv.Get(ctx, path)
	}
	n, err := strconv.Atoi(version)
	if err != nil || n < 1 {
		return nil, wrong(fmt.Sprintf("its version %.20q is no number from 1 on", version))
	}
	return kv.GetVersion(ctx, path, n)
}

// fieldOf returns a field of a secret as text.
func fieldOf(found *api.KVSecret, field string) (string, error) {
	if meta := found.VersionMetadata; found.Data == nil && meta != nil && meta.Version > 0 {
		why := "was deleted"
		if meta.Destroyed {
			why = "was destroyed"
		}
		return "", wrong(fmt.Sprintf("its version %d %s: store it again, or name another version", meta.Version, why))
	}
	switch value := found.Data[field].(type) {
	case string:
		return value, nil
	case json.Number:
		return value.String(), nil
	case bool:
		return strconv.FormatBool(value), nil
	case nil:
		return "", wrong("the secret is there, but it has no such field")
	default:
		return "", wrong("its value is not a text")
	}
}

// statusOf returns the HTTP status of an answer that is an error, 0 if there is none.
func statusOf(err error) int {
	var answer *api.ResponseError
	if errors.As(err, &answer) {
		return answer.StatusCode
	}
	return 0
}

// explain returns an error that says what to do, without the words of the server. permission
// says what to do if the server forbids it.
func (v *vault) explain(ctx context.Context, err error, permission string) error {
	server := v.settings.Server
	switch status := statusOf(err); {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case outward.IsRefused(err):
		return fmt.Errorf("%s: %w", server, outward.Explain(ctx, server, err))
	case integration.ClassOfFailure(err) != "":
		return err
	case errors.Is(err, api.ErrSecretNotFound):
		return asConfig(fmt.Errorf("there is none at %s: store it in a KV engine of version 2, or correct path and version "+
			"in the data", server))
	case status == http.StatusForbidden:
		return asConfig(fmt.Errorf("%s forbids it: %s", server, permission))
	case status == http.StatusServiceUnavailable:
		return asTransient(fmt.Errorf("%s is sealed or not ready (503)", server))
	case status == http.StatusTooManyRequests, status >= 500:
		return asTransient(fmt.Errorf("%s answers %d", server, status))
	case status > 0:
		return asConfig(fmt.Errorf("%s answers %d: look at the server, the mount and the login under secrets.vault in "+
			"prcheck.yaml", server, status))
	case errors.Is(err, outward.ErrTooLong):
		return asConfig(fmt.Errorf("%s: %w for a secret", server, outward.ErrTooLong))
	case errors.Is(err, context.DeadlineExceeded):
		return asTransient(fmt.Errorf("%s does not answer within %v", server, v.timeout))
	}
	return outward.Explain(ctx, server, err)
}
