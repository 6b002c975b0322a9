package setup

import (
	"strings"

	"github.com/app-sre/prcheck/integration"
)

// kindOf returns whose integrations the definitions describe. A definition is one of
// qontract-reconcile if the shipped settings know its name, its command begins with its name,
// and no program of that name is here.
func kindOf(definitions []integration.Definition, isCommand func(name string) bool) Kind {
	if len(definitions) == 0 {
		return Empty
	}
	known := shippedNames()
	for _, d := range definitions {
		if d.Check != nil && known[d.Name] && firstWord(d.Check.Cmd) == d.Name && !isCommand(d.Name) {
			return Reconcile
		}
	}
	return Own
}

// firstWord returns the first word of a command.
func firstWord(command string) string {
	words := strings.Fields(command)
	if len(words) == 0 {
		return ""
	}
	return words[0]
}
