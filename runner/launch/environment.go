package launch

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/place"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/wrapper"
)

// exec returns the settings by which a task starts, including those of the conditions that
// hold for the task.
func (e Equipment) exec(t plan.Task) settings.Exec {
	var conditions []settings.Condition
	for _, c := range t.When {
		conditions = append(conditions, settings.Condition(c))
	}
	return e.Settings.For(t.Integration).Exec.ForConditions(conditions, "")
}

// command returns the command of a task. A [wrapper.ConfigError] names a variable that the
// task needs and that is not set or not allowed.
func (e Equipment) command(t plan.Task, at place.Place) (wrapper.Command, error) {
	exec := e.exec(t)
	vars := map[string]string{"name": t.Integration}
	for _, name := range append(settings.EnvPlaceholderNames(t.Argv...), settingsVariables(exec)...) {
		v, err := variableValue(exec, t, name, e.Getenv)
		if err != nil {
			return wrapper.Command{}, &wrapper.ConfigError{Err: err}
		}
		vars["env."+name] = moved(v, at)
	}
	return wrapper.Command{
		Argv: movedAll(t.Argv, at), Env: movedAll(taskEnvironment(exec, e.Getenv), at), Dir: at.Folder, Enter: at.Enter,
		Config: moved(exec.Config, at), Vars: vars,
	}, nil
}

// settingsVariables returns the names of the variables that the settings insert into a
// task's config or environment. The argument vector comes from the plan, see
// [argvVariables].
func settingsVariables(exec settings.Exec) []string {
	return settings.EnvPlaceholderNames(slices.AppendSeq([]string{exec.Config}, maps.Values(exec.Env))...)
}

// argvVariables returns the names of the variables that the settings allow in an argument
// vector.
func argvVariables(exec settings.Exec) []string {
	return settings.EnvPlaceholderNames(slices.AppendSeq(slices.Clone(exec.Argv), maps.Values(exec.Variables))...)
}

// variableValue returns the value of a variable of the runner's environment that the
// settings allow for a task.
func variableValue(exec settings.Exec, t plan.Task, name string, getenv func(string) string) (string, error) {
	if !slices.Contains(settingsVariables(exec), name) && !slices.Contains(argvVariables(exec), name) {
		return "", fmt.Errorf("the plan's command uses the variable %s, but the settings do not: plan again", name)
	}
	v := getenv(name)
	if v == "" {
		return "", fmt.Errorf("the command needs the variable %s, which is not set in the runner's environment", name)
	}
	for _, word := range t.Argv {
		if strings.HasPrefix(word, settings.EnvPlaceholder(name)) && strings.HasPrefix(v, "-") {
			return "", fmt.Errorf("the value of the variable %s begins with a dash, "+
				"so the command would take it for an option", name)
		}
	}
	return v, nil
}

// taskEnvironment returns the environment of a task: the variables of pass_env that
// are set in the runner's environment, and the variables that the settings set.
func taskEnvironment(exec settings.Exec, getenv func(string) string) []string {
	var out []string
	for _, name := range exec.PassEnv {
		if _, isSet := exec.Env[name]; isSet {
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
