package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/settings"
)

// manyShare is the share of all schemas from which on an integration counts as one that may
// read most of them, in percent.
const manyShare = 80

// checkSkips says which integrations are skipped never or seldom, and what would make them.
func (e *examination) checkSkips(context.Context) {
	if len(e.list) == 0 {
		return
	}
	before := len(e.found)
	for _, rule := range []struct {
		holds        func(integration.Definition, settings.Integration) bool
		what, remedy string
	}{
		{func(d integration.Definition, _ settings.Integration) bool { return d.Check.AlwaysRun },
			"always_run is set, so every change is a reason to run",
			"remove always_run where the change of a datafile is the only reason to run"},
		{func(d integration.Definition, it settings.Integration) bool {
			return !d.Check.AlwaysRun && e.isBlind(it) && (e.State.Place == "" || !canTrace(it))
		}, "it is not known what is asked, so every change of a datafile that may be read is a reason to run",
			"declare queries in the settings, or remember with --state what is asked (docs/traces.md)"},
		{func(d integration.Definition, it settings.Integration) bool {
			return !d.Check.AlwaysRun && e.isBlind(it) && it.Resources.AllowAll() && len(e.head.Resources()) > 0
		}, "every change of a resource is a reason to run, since any resource might be asked for",
			"say resources: none, or which resources are asked for, in the settings"},
		{func(d integration.Definition, _ settings.Integration) bool { return e.readsMost(d) },
			"most schemas may be read, so almost every change is a reason to run",
			"run planner suggest with the --state of some runs: it prints definitions with the schemas that are read"},
		{func(_ integration.Definition, it settings.Integration) bool {
			return e.State.Place != "" && e.isBlind(it) && canTrace(it) && it.Reads == settings.ReadsNone && !it.Programs.None &&
				it.Programs.Globs == nil
		}, "every changed file of the repository ends what traces prove, since it is not recorded which files are read",
			"take reads: none out of the settings, say programs: none, or list the files (docs/settings.md)"},
		{func(_ integration.Definition, it settings.Integration) bool {
			return e.State.Place != "" && e.isBlind(it) && it.Trace != settings.TraceNone && hasVariable(it)
		}, "no trace counts, since the command line has {env.…}, which is known only when a task starts",
			"hand the value over in env"},
	} {
		var names []string
		for _, d := range e.list {
			if rule.holds(d, e.settings.For(d.Name)) {
				names = append(names, d.Name)
			}
		}
		if len(names) > 0 {
			e.warn("skips", fmt.Sprintf("%s: %s", list(names), rule.what), rule.remedy)
		}
	}
	if len(e.found) == before {
		e.ok("skips", "what each integration asks is known, so it runs only when an answer differs")
	}
}

// isBlind reports whether nothing but the definition says what an integration reads.
func (e *examination) isBlind(it settings.Integration) bool {
	return len(it.Queries) == 0 && !e.isNative(it.Name)
}

// canTrace reports whether a trace may prove something about an integration.
func canTrace(it settings.Integration) bool {
	return it.Trace != settings.TraceNone && !hasVariable(it)
}

// hasVariable reports whether the command line has a value that is known only when the task
// starts.
func hasVariable(it settings.Integration) bool {
	return slices.ContainsFunc(it.Exec.Argv, func(word string) bool { return strings.Contains(word, "{env.") })
}

// readsMost reports whether a definition allows most schemas that have datafiles.
func (e *examination) readsMost(d integration.Definition) bool {
	with := map[string]bool{}
	may := 0
	for _, f := range e.head.Datafiles() {
		if with[string(f.Schema)] {
			continue
		}
		with[string(f.Schema)] = true
		if d.Allows(f.Schema) {
			may++
		}
	}
	const few = 10
	return len(with) >= few && may*100 >= len(with)*manyShare
}
