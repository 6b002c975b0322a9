package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/source"
)

// checkEnvironment looks for folders that git ignores and that programs often need. A task on base
// has them only if the settings say so.
func (e *examination) checkEnvironment(ctx context.Context) {
	uses := func(d integration.Definition) bool {
		return !e.isNative(d.Name) && !e.settings.For(d.Name).Programs.None
	}
	if e.repo == nil || !slices.ContainsFunc(e.list, uses) || len(e.settings.Prepare()) > 0 {
		return
	}
	built, err := source.FindBuilt(ctx, e.repo.Root())
	if err != nil {
		e.fail("environment", err.Error(), "")
		return
	}
	declared := e.settings.Environment()
	built = slices.DeleteFunc(built, func(name string) bool {
		return slices.ContainsFunc(declared, func(d string) bool { return name == d || strings.HasPrefix(name, d+"/") })
	})
	if len(built) == 0 {
		return
	}
	suggested := strings.Join(append(declared, built[:min(len(built), maxNames)]...), ", ")
	e.warn("environment", fmt.Sprintf("git ignores %s, so tasks on base do not have %s", list(built), pronoun(built)),
		fmt.Sprintf("if programs need %s, add to the settings: environment: [%s]; or prepare (docs/input.md)", pronoun(built),
			suggested))
}

// pronoun stands for some names in a sentence.
func pronoun(names []string) string {
	if len(names) == 1 {
		return "it"
	}
	return "them"
}
