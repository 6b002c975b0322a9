package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// flagsFrom is the name of the flag that stands for further arguments in a variable.
const flagsFrom = "flags-from"

// addFlagsFrom gives all commands of a tree the flag --flags-from, for the help. Its value
// is never read, since [fillFlags] replaces the flag before the arguments are parsed.
func addFlagsFrom(root *cobra.Command) {
	root.PersistentFlags().StringArray(flagsFrom, nil,
		"`variable` of the environment with further flags as a JSON array, such as [\"--jobs\", \"4\"]; empty is none")
}

// fillFlags replaces each --flags-from NAME by the arguments in the variable NAME. Pipelines
// use it, because a shell would split a flag with a blank.
func fillFlags(args []string, getenv func(string) string) ([]string, error) {
	var out []string
	for i := 0; i < len(args); i++ {
		name, found := strings.CutPrefix(args[i], "--"+flagsFrom+"=")
		switch {
		case args[i] == "--":
			return append(out, args[i:]...), nil
		case args[i] == "--"+flagsFrom && i+1 < len(args):
			i++
			name = args[i]
		case !found: // or without a name, which the parser of the flags says
			out = append(out, args[i])
			continue
		}
		flags, err := parseFlags(getenv(name))
		if err != nil {
			return nil, Usage(fmt.Errorf("the variable %s (of --%s): %w", name, flagsFrom, err))
		}
		out = append(out, flags...)
	}
	return out, nil
}

// unfilled matches the name of a variable in a flag. In GitLab's pipelines nobody fills it
// in: a branch could be named so that its name would begin another flag.
var unfilled = lazyregexp.New(`\$(\{?[A-Za-z_][A-Za-z0-9_]*\}?)`)

// parseFlags returns the arguments in the value of a variable.
func parseFlags(value string) ([]string, error) {
	if strings.TrimSpace(value) == "" {
		return nil, nil
	}
	var items []any
	if err := json.Unmarshal([]byte(value), &items); err != nil || items == nil {
		return nil, fmt.Errorf("must be a JSON array of strings%s", suggestArray(value))
	}
	var flags []string
	for i, item := range items {
		flag, ok := item.(string)
		switch {
		case !ok:
			raw, _ := json.Marshal(item) // it was JSON before
			return nil, fmt.Errorf("item %d must be a string, got %s; put it in quotes", i+1, raw)
		case strings.ContainsRune(flag, 0):
			return nil, fmt.Errorf("item %d holds a NUL character", i+1)
		case flag == "--"+flagsFrom || strings.HasPrefix(flag, "--"+flagsFrom+"="):
			return nil, fmt.Errorf("item %d is --%s, which a variable cannot hold", i+1, flagsFrom)
		case unfilled.MatchString(flag):
			return nil, fmt.Errorf("item %d names the variable %s, which is not filled in here; write its value", i+1,
				unfilled.FindString(flag))
		}
		flags = append(flags, flag)
	}
	return flags, nil
}

// suggestArray returns the end of a message with the array that the words of a value would
// be.
func suggestArray(value string) string {
	words := strings.Fields(value)
	if len(words) == 0 || len(value) > 200 || strings.ContainsAny(value, `"'[]{}$`) ||
		!slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") }) {
		return ` such as ["--jobs", "4"]`
	}
	raw, _ := json.Marshal(words) // texts
	return fmt.Sprintf("; write %s", raw)
}
