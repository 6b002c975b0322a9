package wrapper

import (
	"regexp"
	"strings"
)

// placeholder is a word in braces; one that names a variable of the environment
// begins with env and a dot.
var placeholder = regexp.MustCompile(`\{(?:env\.[A-Za-z_][A-Za-z0-9_]*|[a-z][a-z0-9_]*)\}`)

// expand replaces the known placeholders in one pass: what a value brings along
// is not looked at again.
func expand(text string, vars map[string]string) string {
	return placeholder.ReplaceAllStringFunc(text, func(word string) string {
		if value, ok := vars[word[1:len(word)-1]]; ok {
			return value
		}
		return word
	})
}

// expanded returns the command with its placeholders replaced in the arguments
// and in the values of the environment, never in the names there.
func (c Command) expanded(vars map[string]string) Command {
	argv := make([]string, len(c.Argv))
	for i, arg := range c.Argv {
		argv[i] = expand(arg, vars)
	}
	env := make([]string, len(c.Env))
	for i, entry := range c.Env {
		name, value, _ := strings.Cut(entry, "=")
		env[i] = name + "=" + expand(value, vars)
	}
	return Command{Argv: argv, Env: env, Dir: c.Dir}
}
