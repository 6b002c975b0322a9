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

// minUnnamed is the length in bytes from which the value of a secret counts if the
// settings do not name its variable. A shorter value is more likely a switch, and
// GitLab masks no shorter value either.
const minUnnamed = 8

// inAddress finds the password in an address.
var inAddress = regexp.MustCompile(`://[^/:@\s]*:([^@/\s]+)@`)

// Secrets returns the values that must not appear in any output of these tasks: the
// values of all variables that are named like a secret, whether or not a task gets
// them. A variable counts wherever its value comes from: from the settings, or from
// the runner's environment.
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

// environSecrets returns the secrets in the runner's whole environment, passwords in
// addresses included. No task is given them, but a child process can read the
// environment of its parent.
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
		for _, m := range inAddress.FindAllStringSubmatch(value, -1) {
			out = append(out, m[1])
			if plain, err := url.PathUnescape(m[1]); err == nil {
				out = append(out, plain)
			}
		}
	}
	return slices.DeleteFunc(out, func(v string) bool { return len(v) < minUnnamed })
}

// isSecretName reports whether a variable is named like a secret. AUTHOR is no such
// name: it is the author of a commit.
func isSecretName(name string) bool {
	for part := range strings.SplitSeq(strings.ToUpper(name), "_") {
		hasWord := func(w string) bool { return strings.Contains(part, w) }
		if part != "AUTHOR" && slices.ContainsFunc(secretWords, hasWord) {
			return true
		}
	}
	return false
}
