package launch

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/wrapper"
)

// exec is how a task is started: the settings with what the conditions that
// hold for it add.
func (w World) exec(t plan.Task) integration.Exec {
	var holds []integration.Condition
	for _, c := range t.When {
		holds = append(holds, integration.Condition(c))
	}
	return w.Settings.For(t.Integration).Exec.With(holds, "")
}

// command is what a task becomes. A *wrapper.ConfigError says which variable it
// needs and does not get.
func (w World) command(t plan.Task, folder string) (wrapper.Command, error) {
	exec := w.exec(t)
	vars := map[string]string{"name": t.Integration}
	for _, name := range append(integration.NamesFromEnv(t.Argv...), used(exec)...) {
		v, err := variable(exec, t, name, w.Getenv)
		if err != nil {
			return wrapper.Command{}, &wrapper.ConfigError{Err: err}
		}
		vars["env."+name] = v
	}
	return wrapper.Command{Env: environment(exec, w.Getenv), Dir: folder, Config: exec.Config, Vars: vars}, nil
}

// used lists the variables whose values the settings ask for by placeholder,
// the argument vector aside, which the plan holds.
func used(exec integration.Exec) []string {
	return integration.NamesFromEnv(slices.AppendSeq([]string{exec.Config}, maps.Values(exec.Env))...)
}

// inArgv lists those that the settings allow in the argument vector.
func inArgv(exec integration.Exec) []string {
	return integration.NamesFromEnv(slices.AppendSeq(slices.Clone(exec.Argv), maps.Values(exec.Variables))...)
}

// variable is the value of a variable of the runner's environment that a task
// may use.
func variable(exec integration.Exec, t plan.Task, name string, getenv func(string) string) (string, error) {
	if !slices.Contains(used(exec), name) && !slices.Contains(inArgv(exec), name) {
		return "", fmt.Errorf("the plan's command uses the variable %s, which the settings do not: plan again", name)
	}
	v := getenv(name)
	if v == "" {
		return "", fmt.Errorf("the command needs the variable %s, which is not set in the runner's environment", name)
	}
	for _, word := range t.Argv {
		if strings.HasPrefix(word, integration.FromEnv(name)) && strings.HasPrefix(v, "-") {
			return "", fmt.Errorf("the value of the variable %s begins with a dash, so the command would take it for an option", name)
		}
	}
	return v, nil
}

// environment is all a task gets of the runner's environment, and what the
// settings set.
func environment(exec integration.Exec, getenv func(string) string) []string {
	var out []string
	for _, name := range exec.PassEnv {
		if _, set := exec.Env[name]; set {
			continue
		}
		if v := getenv(name); v != "" {
			out = append(out, name+"="+v)
		}
	}
	for name, v := range exec.Env {
		out = append(out, name+"="+v)
	}
	slices.Sort(out)
	return out
}

// secretWords mark the variables whose values never appear in an output.
var secretWords = []string{"TOKEN", "SECRET", "PASS", "KEY", "CREDENTIAL", "AUTH", "JWT"}

// minUnnamed is how long the value of a secret is that the settings do not name.
// A shorter one is rather a switch than a secret, and GitLab masks none either.
const minUnnamed = 8

// inAddress finds the password in an address.
var inAddress = regexp.MustCompile(`://[^/:@\s]*:([^@/\s]+)@`)

// unnamed returns the secrets of the runner's whole environment. No task gets
// them, but a child of ours can read what we have.
func (w World) unnamed() []string {
	if w.Environ == nil {
		return nil
	}
	var out []string
	for _, entry := range w.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if isSecret(name) {
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

// Secrets returns the values that must not appear in any output of these tasks:
// of variables that are named like a secret, wherever their values come from or
// go to, and whether or not a task gets them.
func (w World) Secrets(tasks []plan.Task) []string {
	var out []string
	add := func(v string) {
		if v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	for _, v := range w.unnamed() {
		add(v)
	}
	for _, t := range tasks {
		exec := w.exec(t)
		names := append(append(integration.NamesFromEnv(t.Argv...), used(exec)...), exec.PassEnv...)
		for name, v := range exec.Env {
			from := integration.NamesFromEnv(v)
			switch {
			case !isSecret(name):
			case len(from) == 0:
				add(v)
			default:
				for _, name := range from {
					add(w.Getenv(name))
				}
			}
		}
		for _, name := range names {
			if isSecret(name) {
				add(w.Getenv(name))
			}
		}
	}
	return out
}

func isSecret(name string) bool {
	for part := range strings.SplitSeq(strings.ToUpper(name), "_") {
		holds := func(w string) bool { return strings.Contains(part, w) }
		if part != "AUTHOR" && slices.ContainsFunc(secretWords, holds) { // the author is one of a commit
			return true
		}
	}
	return false
}
