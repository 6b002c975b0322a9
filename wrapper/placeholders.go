package wrapper

import (
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// placeholder matches a word in braces, such as {task}. The placeholder of an
// environment variable starts with "env.", such as {env.HOME}.
var placeholder = lazyregexp.New(`\{(?:env\.[A-Za-z_][A-Za-z0-9_]*|[a-z][a-z0-9_]*)\}`)

// fillPlaceholders replaces the placeholders of text that have a value in vars. It
// reads the text once, so a placeholder inside a value stays as it is.
func fillPlaceholders(text string, vars map[string]string) string {
	return placeholder.ReplaceAllStringFunc(text, func(word string) string {
		if value, ok := vars[word[1:len(word)-1]]; ok {
			return value
		}
		return word
	})
}

// fillPlaceholders returns the command with the placeholders replaced in its
// arguments and in the values of its environment variables. Names of variables stay
// as they are.
func (c Command) fillPlaceholders(vars map[string]string) Command {
	argv := make([]string, len(c.Argv))
	for i, arg := range c.Argv {
		argv[i] = fillPlaceholders(arg, vars)
	}
	env := make([]string, len(c.Env))
	for i, entry := range c.Env {
		name, value, _ := strings.Cut(entry, "=")
		env[i] = name + "=" + fillPlaceholders(value, vars)
	}
	c.Argv, c.Env = argv, env
	return c
}

// uses reports whether an argument or the value of a variable has a placeholder.
func (c Command) uses(word string) bool {
	return slices.ContainsFunc(slices.Concat(c.Argv, c.Env),
		func(text string) bool { return strings.Contains(text, word) })
}

// checkConfig returns an error if a word that the change decides about would be filled into a
// config text with a character that can end the text around it. Such a key of a shard could
// add settings of its own.
func checkConfig(config string, vars map[string]string) error {
	for _, word := range []string{"name", "shard", "task"} {
		value := vars[word]
		if strings.Contains(config, "{"+word+"}") && strings.ContainsAny(value, "\"'`\\\n\r") {
			return configErrorf("{%s} is %.80q, which has a quote, a backslash or a line break, "+
				"so it cannot be put into config; put it into argv or env", word, value)
		}
	}
	return nil
}
