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
	"github.com/app-sre/prcheck/internal/origin"
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

// A Source is an address with the secret that opens it. Sources of one address and of different
// secrets are asked each: what a wrong secret does not open, another one may.
type Source struct {
	Address string
	Secret  integration.SecretRef
}

// Source returns an address with a secret that the data name, nil for none. The secret does not
// count if the settings have a login for the host.
func (s Settings) Source(address, host string, named *integration.SecretRef) Source {
	out := Source{Address: address}
	if _, has := s.Logins[host]; named != nil && !has {
		out.Secret = *named
	}
	return out
}

// RepositorySource returns the repository of a template as a source.
func (s Settings) RepositorySource(of *Template) Source {
	host, err := hostOf(of.URL)
	if err != nil {
		host = "" // no host has a login
	}
	return s.Source(of.URL, host, of.File.Code)
}

// ImageSource returns an image as a source, with the secret of a saas file.
func (s Settings) ImageSource(image string, of *File) Source {
	return s.Source(image, registryOf(image), of.Image)
}

// registryOf returns the host of the registry of an image, without its port.
func registryOf(image string) string {
	host, _, _ := strings.Cut(image, "/")
	host, _, _ = strings.Cut(strings.ToLower(host), ":")
	return host
}

// Repository returns the repository of a template, with the login that the settings have for its
// host, or else with the credentials of the saas file for code.
func (c Credentials) Repository(ctx context.Context, of *Template) (services.Repository, error) {
	out := services.Repository{URL: of.URL}
	host, err := hostOf(of.URL)
	if err != nil {
		return out, err
	}
	if err := c.mayAsk(host, portOf(of.URL)); err != nil {
		return out, err
	}
	if l, ok := c.Settings.Logins[host]; ok {
		out.User = l.User
		out.Password, err = c.read(ctx, host, l.ref())
		return out, err
	}
	if of.File.Code == nil || c.withheld(of.File, host, portOf(of.URL), codeOf) != "" {
		return out, nil
	}
	out.Password, err = c.read(ctx, host, *of.File.Code)
	return out, err
}

// Image returns an image such as quay.io/org/name:tag with its login: that of the settings for its
// registry, or else the one in the fields user and token of the secret that a saas file names. The hosts of the
// settings may give tokens for it.
func (c Credentials) Image(ctx context.Context, of *File, image string) (services.Image, error) {
	login, err := c.loginForImage(ctx, of, image)
	return services.Image{Name: image, Login: login, TokensFrom: c.Settings.Hosts}, err
}

func (c Credentials) loginForImage(ctx context.Context, of *File, image string) (services.Login, error) {
	var out services.Login
	host := registryOf(image)
	if err := c.mayAsk(host, registryPort(image)); err != nil {
		return out, err
	}
	if l, ok := c.Settings.Logins[host]; ok {
		password, err := c.read(ctx, host, l.ref())
		return services.Login{User: l.User, Password: password}, err
	}
	if of.Image == nil || c.withheld(of, host, registryPort(image), imageOf) != "" {
		return out, nil
	}
	user, token := *of.Image, *of.Image
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

// codeOf and imageOf return the credentials of a saas file.
func codeOf(f *File) *integration.SecretRef  { return f.Code }
func imageOf(f *File) *integration.SecretRef { return f.Image }

// WithheldRepository says why the repository of a template does not get the credentials that the
// saas file names, and what to do; "" if it gets them, or the file names none.
func (c Credentials) WithheldRepository(of *Template) string {
	host, err := hostOf(of.URL)
	if err != nil {
		return ""
	}
	return c.withheld(of.File, host, portOf(of.URL), codeOf)
}

// WithheldImage says the same of the registry of an image.
func (c Credentials) WithheldImage(of *File, image string) string {
	return c.withheld(of, registryOf(image), registryPort(image), imageOf)
}

// mayAsk returns why nobody asks a host at a port before the merge of a change, nil if it is asked: the data of base
// name both, or the settings do. A host of the settings without a port is one at the usual port. An address could
// have a secret that the change knows, so it is refused before its name is looked up.
func (c Credentials) mayAsk(host, port string) error {
	if c.Base == nil || c.Base.names(host, port) {
		return nil
	}
	at := withPort(host, port)
	_, hasLogin := c.Settings.Logins[at]
	if hasLogin || c.Settings.MayGet(at) {
		return nil
	}
	return integration.Failure(integration.FailureOfConfig, fmt.Errorf("%.100q is not asked before the merge, since neither base nor the settings name it: "+
		"add it to hosts in the settings of base, if it is trusted", at))
}

// names reports whether a repository or a pattern of images has a host with a port.
func (m *Model) names(host, port string) bool {
	return slices.ContainsFunc(m.Files, func(f *File) bool {
		return slices.ContainsFunc(f.ImagePatterns, func(p string) bool {
			return registryOf(p) == host && registryPort(p) == port
		}) || slices.ContainsFunc(f.Templates, func(t *Template) bool {
			is, err := hostOf(t.URL)
			return err == nil && is == host && portOf(t.URL) == port
		})
	})
}

// portOf returns the port of an address, "" for the usual one of its scheme.
func portOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "https" && u.Port() == "443" || u.Scheme == "http" && u.Port() == "80" {
		return ""
	}
	return u.Port()
}

// withPort returns a host with its port; "" is the usual one.
func withPort(host, port string) string {
	if port == "" {
		return host
	}
	return origin.Origin{Scheme: "https", Host: host, Port: port}.String()
}

// registryPort returns the port of the registry of an image, "" for the usual one.
func registryPort(image string) string {
	host, _, hasPath := strings.Cut(image, "/")
	_, port, _ := strings.Cut(host, ":")
	if !hasPath || port == "443" {
		return ""
	}
	return port
}

// withheld says why a host does not get credentials of a saas file. Those that a change names first
// are not used before its merge.
func (c Credentials) withheld(of *File, host, port string, get func(*File) *integration.SecretRef) string {
	ref := get(of)
	if _, hasLogin := c.Settings.Logins[host]; hasLogin || ref == nil {
		return ""
	}
	if !c.Settings.MayGet(host) && !c.Settings.MayGet(withPort(host, port)) {
		return fmt.Sprintf("%.100s gets no credentials, because the setting hosts does not name it", host)
	}
	if c.Base == nil {
		return ""
	}
	if f := c.Base.File(of.Name); f != nil {
		if was := get(f); was != nil && *was == *ref {
			return ""
		}
	}
	return fmt.Sprintf("%.100s does not get the credentials that the change names first; until it is merged they are not trusted: "+
		"let the setting logins have a login for %.100s", host, host)
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
	if u.Scheme != "https" && (u.Scheme != "http" || !origin.IsThisMachine(u.Hostname())) {
		return "", errAddress
	}
	return strings.ToLower(u.Hostname()), nil
}
