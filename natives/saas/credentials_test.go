package saas_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/saas"
)

// A host gets a secret only if the settings name the host, and a secret that the data name only
// if base names it too.
func TestCredentials(t *testing.T) {
	code, image := &integration.SecretRef{Path: "app/code", Field: "token"},
		&integration.SecretRef{Path: "app/image", Field: "any"}
	other := &integration.SecretRef{Path: "sre/root", Field: "token"}
	with := func(code, image *integration.SecretRef) *saas.File {
		return &saas.File{Name: "shop", Code: code, Image: image}
	}
	ported := func(f *saas.File) *saas.File {
		f.ImagePatterns = []string{"quay.io:8443/a"}
		f.Templates = []*saas.Template{{File: f, URL: "https://github.com:8443/c/d"}}
		return f
	}
	settings := saas.Settings{Hosts: []string{"github.com", "quay.io", "localhost", "forge.example.com:8443"},
		Logins: map[string]saas.LoginSecret{"gitlab.example.com": {User: "bot", Path: "ci", Field: "pat"}}}
	for _, c := range []struct {
		name, url, image string
		file             *saas.File
		base             *saas.Model
		repository       string // user:password
		login            string
		isWrong          bool
		isUnasked        bool   // nobody asks it before the merge
		withheld         string // what the reason has
	}{
		{name: "a host of the settings", url: "https://github.com/a/b", image: "quay.io/a/b:1", file: with(code, image),
			repository: ":app/code#token", login: "app/image#user:app/image#token"},
		{name: "another way to write it", url: "https://GitHub.com:443/a/b", image: "QUAY.io:443/a/b",
			file: with(code, image), repository: ":app/code#token", login: "app/image#user:app/image#token"},
		{name: "a host of nobody", url: "https://github.com.evil.example/a", image: "quay.io.evil.example/a",
			file: with(code, image), repository: ":", login: ":", withheld: "the setting hosts does not name it"},
		{name: "no credentials", url: "https://github.com/a/b", image: "quay.io/a/b", file: with(nil, nil), repository: ":",
			login: ":"},
		{name: "a login of the settings", url: "https://gitlab.example.com/a", image: "gitlab.example.com/a:1",
			file: with(code, image), repository: "bot:ci#pat", login: "bot:ci#pat"},
		{name: "the same in base", url: "https://github.com/a/b", image: "quay.io/a", file: with(code, image),
			base:       &saas.Model{Files: []*saas.File{with(code, image)}},
			repository: ":app/code#token", login: "app/image#user:app/image#token"},
		{name: "a change names another port", url: "https://github.com:8443/a/b", image: "quay.io:8443/a",
			file: with(code, image), base: &saas.Model{Files: []*saas.File{with(code, image)}},
			isUnasked: true},
		{name: "the port of base", url: "https://github.com:8443/a/b", image: "quay.io:8443/a", file: with(code, image),
			base:       &saas.Model{Files: []*saas.File{ported(with(code, image))}},
			repository: ":app/code#token", login: "app/image#user:app/image#token"},
		{name: "another port for a login of the settings", url: "https://gitlab.example.com:1/a",
			image: "gitlab.example.com:1/a:1", file: with(code, image), base: &saas.Model{}, isUnasked: true},
		{name: "a change names another host", url: "https://a-secret.evil.example/a", image: "a-secret.evil.example/a",
			file: with(nil, nil), base: &saas.Model{Files: []*saas.File{ported(with(code, image))}}, isUnasked: true},
		{name: "base has a port of the host", url: "https://git.example.com/a", image: "git.example.com/a",
			file: with(nil, nil), base: &saas.Model{Files: []*saas.File{ported(with(code, image))}}, isUnasked: true},
		{name: "a port of the settings", url: "https://forge.example.com:8443/a", image: "forge.example.com:8443/a",
			file: with(code, image), base: &saas.Model{Files: []*saas.File{with(code, image)}},
			repository: ":app/code#token", login: "app/image#user:app/image#token"},
		{name: "the usual port of a host with a port in the settings", url: "https://forge.example.com/a",
			image: "forge.example.com/a", file: with(code, image), base: &saas.Model{}, isUnasked: true},
		{name: "a change names another secret", url: "https://github.com/a/b", image: "quay.io/a", file: with(other, other),
			base: &saas.Model{Files: []*saas.File{with(code, image)}}, repository: ":", login: ":",
			withheld: "let the setting logins have a login for"},
		{name: "a new saas file", url: "https://github.com/a/b", image: "quay.io/a", file: with(code, image),
			base: &saas.Model{}, repository: ":", login: ":", withheld: "let the setting logins have a login for"},
		{name: "not encrypted", url: "http://github.com/a/b", image: "x", file: with(code, nil), isWrong: true},
		{name: "this machine", url: "http://localhost:1/a", image: "localhost:1/a", file: with(code, image),
			repository: ":app/code#token", login: "app/image#user:app/image#token"},
		{name: "a user in the address", url: "https://github.com@evil.example/a", image: "x", file: with(code, nil),
			isWrong: true},
		{name: "another protocol", url: "file:///etc", image: "x", file: with(code, nil), isWrong: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			cred := saas.Credentials{Settings: settings, Base: c.base,
				Secret: func(_ context.Context, ref integration.SecretRef) (string, error) {
					return ref.Path + "#" + ref.Field, nil
				}}
			r, err := cred.Repository(t.Context(), &saas.Template{File: c.file, URL: c.url})
			if c.isUnasked {
				l, too := cred.Image(t.Context(), c.file, c.image)
				for _, err := range []error{err, too} {
					if err == nil || !strings.Contains(err.Error(), "is not asked before the merge") ||
						r.Password+l.Login.Password != "" {
						t.Errorf("got %v", err)
					}
				}
				return
			}
			if got := r.User + ":" + r.Password; !c.isWrong && (got != c.repository || err != nil) ||
				c.isWrong && (err == nil || r.Password != "") {
				t.Errorf("the repository gets %q, %v", got, err)
			}
			for _, why := range []string{cred.WithheldRepository(&saas.Template{File: c.file, URL: c.url}),
				cred.WithheldImage(c.file, c.image)} {
				if !c.isWrong && ((why == "") != (c.withheld == "") || !strings.Contains(why, c.withheld)) {
					t.Errorf("credentials are withheld because %q, want %q", why, c.withheld)
				}
			}
			l, err := cred.Image(t.Context(), c.file, c.image)
			if l.Name != c.image || !slices.Equal(l.TokensFrom, settings.Hosts) {
				t.Errorf("got the image %q, and its tokens come from %q", l.Name, l.TokensFrom)
			}
			if got := l.Login.User + ":" + l.Login.Password; !c.isWrong && (got != c.login || err != nil) {
				t.Errorf("the registry gets %q, %v", got, err)
			}
		})
	}
	away := saas.Credentials{Settings: settings, Secret: func(context.Context, integration.SecretRef) (string, error) {
		return "x", fmt.Errorf("it is sealed")
	}}
	if l, err := away.Image(t.Context(), with(nil, image), "quay.io/a"); err == nil || l.Login != (services.Login{}) {
		t.Errorf("got %+v, %v", l, err)
	}
	if _, err := (saas.Credentials{Settings: settings}).Repository(t.Context(),
		&saas.Template{File: with(code, nil), URL: "https://github.com/a"}); err == nil {
		t.Error("there is no source of secrets, and no error")
	}
}

// Measurements get credentials over TLS alone, at a host of the settings: at each port, or at the one that they name.
func TestMeasurementCredentials(t *testing.T) {
	cred := saas.Credentials{Settings: saas.Settings{Hosts: []string{"a.example", "b.example:9090"}},
		Secret: func(_ context.Context, ref integration.SecretRef) (string, error) { return ref.Path, nil }}
	for url, isFine := range map[string]bool{
		"https://a.example": true, "https://A.example:9090/x": true, "https://b.example:9090": true,
		"https://b.example": false, "https://b.example:9091": false,
		"http://a.example": false, "https://me@a.example": false, "https://c.example": false, "a.example": false,
	} {
		l, err := cred.Measurement(t.Context(),
			saas.SLONamespace{URL: url, Token: &integration.SecretRef{Path: "p", Field: "f"}})
		if (err == nil) != isFine || (l.Password == "p") != isFine {
			t.Errorf("%s: got %+v, %v", url, l, err)
		}
	}
}

// What is no name of an image is not asked for, and names no registry for others.
func TestRegistryThatIsNone(t *testing.T) {
	base := &saas.Model{Files: []*saas.File{{ImagePatterns: []string{"*/a", "a b/c", ""}}}}
	for _, image := range []string{"*/a", "a b/c", "quay.io:99999/a", "", "me@quay.io/a"} {
		for _, of := range []*saas.Model{nil, base} {
			if _, err := (saas.Credentials{Base: of}).Image(t.Context(), &saas.File{}, image); err == nil ||
				!strings.Contains(err.Error(), "is no name of an image") {
				t.Errorf("%q: got %v", image, err)
			}
		}
	}
}

// The scheme counts as well: base with TLS does not let a change ask without.
func TestSchemeOfBase(t *testing.T) {
	base := &saas.File{}
	base.Templates = []*saas.Template{{File: base, URL: "https://localhost:8443/a"}}
	cred := saas.Credentials{Base: &saas.Model{Files: []*saas.File{base}}}
	for url, isFine := range map[string]bool{"https://localhost:8443/b": true, "http://localhost:8443/b": false} {
		if _, err := cred.Repository(t.Context(), &saas.Template{File: &saas.File{}, URL: url}); (err == nil) != isFine {
			t.Errorf("%s: got %v", url, err)
		}
	}
}
