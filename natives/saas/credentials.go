package saas

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/origin"
)

// A LoginSecret is what a host gets from everybody who asks it, by the settings of base.
type LoginSecret struct {
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
	return s.Source(of.URL, serverOf(of.URL).Host, of.File.Code)
}

// ImageSource returns an image as a source, with the secret of a saas file.
func (s Settings) ImageSource(image string, of *File) Source {
	return s.Source(image, registryOf(image).Host, of.Image)
}

// Repository returns the repository of a template, with the login that the settings have for its
// host, or else with the credentials of the saas file for code.
func (c Credentials) Repository(ctx context.Context, of *Template) (services.Repository, error) {
	out := services.Repository{URL: of.URL}
	at := serverOf(of.URL)
	if at == (origin.Origin{}) {
		return out, errAddress
	}
	err := c.mayAsk(at)
	if err != nil {
		return out, err
	}
	if l, ok := c.Settings.Logins[at.Host]; ok {
		out.User = l.User
		out.Password, err = c.read(ctx, at.Host, l.ref())
		return out, err
	}
	if of.File.Code == nil || c.withheld(of.File, at, codeOf) != "" {
		return out, nil
	}
	out.Password, err = c.read(ctx, at.Host, *of.File.Code)
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
	at := registryOf(image)
	if at == (origin.Origin{}) {
		return out, integration.Failure(integration.FailureOfConfig, fmt.Errorf("%.200q is no name of an image", image))
	}
	if err := c.mayAsk(at); err != nil {
		return out, err
	}
	if l, ok := c.Settings.Logins[at.Host]; ok {
		password, err := c.read(ctx, at.Host, l.ref())
		return services.Login{User: l.User, Password: password}, err
	}
	if of.Image == nil || c.withheld(of, at, imageOf) != "" {
		return out, nil
	}
	user, token := *of.Image, *of.Image
	user.Field, token.Field = "user", "token"
	var err error
	if out.User, err = c.read(ctx, at.Host, user); err != nil {
		return services.Login{}, err
	}
	out.Password, err = c.read(ctx, at.Host, token)
	return out, err
}

// Measurement returns the login for the source of the measurements of an SLO document. A source
// that needs one and may not get it is an error: without it, it says nothing.
func (c Credentials) Measurement(ctx context.Context, at SLONamespace) (services.Login, error) {
	var out services.Login
	for ref, to := range map[*integration.SecretRef]*string{at.User: &out.User, at.Password: &out.Password,
		at.Token: &out.Password} {
		if ref == nil {
			continue
		}
		if !c.Settings.MayGetAt(at.URL) {
			return services.Login{}, fmt.Errorf("the settings do not name the host of %s among hosts, so it gets no credentials",
				at.URL)
		}
		var err error
		if *to, err = c.read(ctx, serverOf(at.URL).Host, *ref); err != nil {
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
func (l LoginSecret) ref() integration.SecretRef {
	return integration.SecretRef{Path: l.Path, Field: l.Field, Version: l.Version}
}

// codeOf and imageOf return the credentials of a saas file.
func codeOf(f *File) *integration.SecretRef  { return f.Code }
func imageOf(f *File) *integration.SecretRef { return f.Image }

// WithheldRepository says why the repository of a template does not get the credentials that the
// saas file names, and what to do; "" if it gets them, or the file names none.
func (c Credentials) WithheldRepository(of *Template) string {
	return c.withheld(of.File, serverOf(of.URL), codeOf)
}

// WithheldImage says the same of the registry of an image.
func (c Credentials) WithheldImage(of *File, image string) string {
	return c.withheld(of, registryOf(image), imageOf)
}

// mayAsk returns why nobody asks a server, nil if it is asked: after the merge each one that the data name.
func (c Credentials) mayAsk(at origin.Origin) error {
	return c.Settings.Hosts.MayAsk(at, func(at origin.Origin) bool {
		_, hasLogin := c.Settings.Logins[at.String()]
		return c.Base == nil || hasLogin || c.Base.names(at)
	})
}

// names reports whether a repository or a pattern of images has a server.
func (m *Model) names(at origin.Origin) bool {
	return slices.ContainsFunc(m.Files, func(f *File) bool {
		return slices.ContainsFunc(f.ImagePatterns, func(p string) bool { return registryOf(p) == at }) ||
			slices.ContainsFunc(f.Templates, func(t *Template) bool { return serverOf(t.URL) == at })
	})
}

// withheld says why a host does not get credentials of a saas file. Those that a change names first
// are not used before its merge.
func (c Credentials) withheld(of *File, at origin.Origin, get func(*File) *integration.SecretRef) string {
	ref := get(of)
	if _, hasLogin := c.Settings.Logins[at.Host]; hasLogin || ref == nil || at.Host == "" {
		return ""
	}
	if !c.Settings.Hosts.Name(at) {
		return fmt.Sprintf("%.100s gets no credentials, because the setting hosts does not name it", at.Host)
	}
	if c.Base == nil {
		return ""
	}
	if f := c.Base.File(of.Name); f != nil {
		if was := get(f); was != nil && *was == *ref {
			return ""
		}
	}
	return fmt.Sprintf("%.100s does not get the credentials that the change names first; until it is merged they are "+
		"not trusted: "+
		"let the setting logins have a login for %.100s", at.Host, at.Host)
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
