package saas

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
)

// A Login is what a host gets from everybody who asks it, by the settings of base.
type Login struct {
	User    string `yaml:"user"` // "" with a token means that the host takes any user
	Path    string `yaml:"path"`
	Field   string `yaml:"field"`
	Version string `yaml:"version"`
}

// Credentials are what services get. The data of a change may name any secret and any address:
// a host gets a secret only if the settings of base name the host, and a secret that a saas file
// names only if the saas file of the same name in base names it too.
type Credentials struct {
	Settings Settings
	Secret   func(ctx context.Context, ref integration.SecretRef) (string, error)
	Base     *Model // nil if there is no change
}

// Repository returns the repository of a template, with the login that the settings have for its
// host, or else with the credentials of the saas file for code.
func (c Credentials) Repository(ctx context.Context, of *Template) (services.Repository, error) {
	out := services.Repository{URL: of.URL}
	host, err := hostOf(of.URL)
	if err != nil {
		return out, err
	}
	if l, ok := c.Settings.Logins[host]; ok {
		out.User = l.User
		out.Password, err = c.read(ctx, host, l.ref())
		return out, err
	}
	ref := of.File.Code
	if ref == nil || !c.Settings.MayGet(host) || !c.isInBase(of.File, *ref, func(f *File) *integration.SecretRef { return f.Code }) {
		return out, nil
	}
	out.Password, err = c.read(ctx, host, *ref)
	return out, err
}

// Image returns the login for an image such as quay.io/org/name:tag: that of the settings for its
// registry, or else the one in the fields user and token of the secret that a saas file names.
func (c Credentials) Image(ctx context.Context, of *File, image string) (services.Login, error) {
	var out services.Login
	host, _, _ := strings.Cut(image, "/")
	host, _, _ = strings.Cut(strings.ToLower(host), ":")
	if l, ok := c.Settings.Logins[host]; ok {
		password, err := c.read(ctx, host, l.ref())
		return services.Login{User: l.User, Password: password}, err
	}
	ref := of.Image
	if ref == nil || !c.Settings.MayGet(host) || !c.isInBase(of, *ref, func(f *File) *integration.SecretRef { return f.Image }) {
		return out, nil
	}
	user, token := *ref, *ref
	user.Field, token.Field = "user", "token"
	var err error
	if out.User, err = c.read(ctx, host, user); err != nil {
		return services.Login{}, err
	}
	out.Password, err = c.read(ctx, host, token)
	return out, err
}

// Measurement returns the login for the source of the measurements of an SLO document. A source
// that needs one and may not get it is an error: without it, it says nothing.
func (c Credentials) Measurement(ctx context.Context, at SLONamespace) (services.Login, error) {
	var out services.Login
	for ref, to := range map[*integration.SecretRef]*string{at.User: &out.User, at.Password: &out.Password, at.Token: &out.Password} {
		if ref == nil {
			continue
		}
		u, err := url.Parse(at.URL)
		if err != nil || u.Scheme != "https" || u.User != nil || !c.Settings.MayGet(u.Hostname()) {
			return services.Login{}, fmt.Errorf("the settings do not name the host of %s among hosts, so it gets no credentials", at.URL)
		}
		if *to, err = c.read(ctx, u.Hostname(), *ref); err != nil {
			return services.Login{}, err
		}
	}
	return out, nil
}

// Query returns the expression of an objective with its window.
func (s SLO) Query() string {
	return strings.NewReplacer("{{window}}", s.Window, "{{ window }}", s.Window).Replace(s.Expression)
}

// ref returns where the secret of a login is.
func (l Login) ref() integration.SecretRef {
	return integration.SecretRef{Path: l.Path, Field: l.Field, Version: l.Version}
}

// isInBase reports whether the saas file of the same name in base names a secret too.
func (c Credentials) isInBase(of *File, ref integration.SecretRef, get func(*File) *integration.SecretRef) bool {
	if c.Base == nil {
		return true
	}
	f := c.Base.File(of.Name)
	if f == nil {
		return false
	}
	is := get(f)
	return is != nil && *is == ref
}

// read reads a secret for a host.
func (c Credentials) read(ctx context.Context, host string, ref integration.SecretRef) (string, error) {
	if c.Secret == nil {
		return "", fmt.Errorf("the credentials for %.200q: there is no source of secrets", host)
	}
	value, err := c.Secret(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("the credentials for %.200q: %w", host, err)
	}
	return value, nil
}

// errAddress says that an address of a repository cannot be used.
var errAddress = errors.New("the address of a repository must be https://HOST/PATH, without a user")

// hostOf returns the name of the host in an address.
func hostOf(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.User != nil {
		return "", errAddress
	}
	isThisMachine := slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())
	if u.Scheme != "https" && (u.Scheme != "http" || !isThisMachine) {
		return "", errAddress
	}
	return strings.ToLower(u.Hostname()), nil
}
