package launch

import (
	"net/url"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
)

// minUnlisted is the minimum length in bytes of a secret whose variable the settings do
// not name. A shorter value is more likely a switch such as "true". GitLab masks no
// shorter value either.
const minUnlisted = 8

// passwordInURL matches the password in a URL.
var passwordInURL = lazyregexp.New(`://[^/:@\s]*:([^@/\s]+)@`)

// Secrets returns the values that must not appear in any output of these tasks: the values
// of all variables that are named like a secret. They may be set by the settings or in the
// runner's environment, and it does not matter whether a task gets them.
func (e Equipment) Secrets(tasks []plan.Task) []string {
	var out []string
	add := func(v string) {
		if v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	for _, v := range e.environSecrets() {
		add(v)
	}
	for _, t := range tasks {
		exec := e.exec(t)
		names := append(append(settings.EnvPlaceholderNames(t.Argv...), settingsVariables(exec)...), exec.PassEnv...)
		for name, v := range exec.Env {
			from := settings.EnvPlaceholderNames(v)
			switch {
			case !mask.IsSecretName(name):
			case len(from) == 0:
				add(v)
			default:
				for _, name := range from {
					add(e.Getenv(name))
				}
			}
		}
		for _, name := range names {
			if mask.IsSecretName(name) {
				add(e.Getenv(name))
			}
		}
	}
	return out
}

// environSecrets returns the secrets in the runner's whole environment, including passwords
// in URLs. Tasks do not get them, but a child process can read the environment of its
// parent.
func (e Equipment) environSecrets() []string {
	if e.Environ == nil {
		return nil
	}
	var out []string
	for _, entry := range e.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if mask.IsSecretName(name) {
			out = append(out, value)
		}
		for _, m := range passwordInURL.FindAllStringSubmatch(value, -1) {
			out = append(out, m[1])
			if plain, err := url.PathUnescape(m[1]); err == nil {
				out = append(out, plain)
			}
		}
	}
	return slices.DeleteFunc(out, func(v string) bool { return len(v) < minUnlisted })
}
