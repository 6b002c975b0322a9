package launch

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
)

// secretWords are the words in a variable's name that mark its value as a secret.
var secretWords = []string{"TOKEN", "SECRET", "PASS", "KEY", "CREDENTIAL", "AUTH", "JWT"}

// minUnlisted is the minimum length in bytes of a secret whose variable the settings do
// not name. A shorter value is more likely a switch such as "true". GitLab masks no
// shorter value either.
const minUnlisted = 8

// passwordInURL matches the password in a URL.
var passwordInURL = regexp.MustCompile(`://[^/:@\s]*:([^@/\s]+)@`)

// Secrets returns the values that must not appear in any output of these tasks: the values
// of all variables that are named like a secret. They may be set by the settings or in the
// runner's environment, and it does not matter whether a task gets them.
func (e Environment) Secrets(tasks []plan.Task) []string {
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
		names := append(append(integration.EnvPlaceholderNames(t.Argv...), settingsVariables(exec)...), exec.PassEnv...)
		for name, v := range exec.Env {
			from := integration.EnvPlaceholderNames(v)
			switch {
			case !isSecretName(name):
			case len(from) == 0:
				add(v)
			default:
				for _, name := range from {
					add(e.Getenv(name))
				}
			}
		}
		for _, name := range names {
			if isSecretName(name) {
				add(e.Getenv(name))
			}
		}
	}
	return out
}

// environSecrets returns the secrets in the runner's whole environment, including passwords
// in URLs. Tasks do not get them, but a child process can read the environment of its
// parent.
func (e Environment) environSecrets() []string {
	if e.Environ == nil {
		return nil
	}
	var out []string
	for _, entry := range e.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if isSecretName(name) {
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

// isSecretName reports whether a variable is named like a secret. AUTHOR is not, although
// it contains AUTH: GitLab uses it for the author of a commit.
func isSecretName(name string) bool {
	for part := range strings.SplitSeq(strings.ToUpper(name), "_") {
		hasWord := func(w string) bool { return strings.Contains(part, w) }
		if part != "AUTHOR" && slices.ContainsFunc(secretWords, hasWord) {
			return true
		}
	}
	return false
}
