package proof

import (
	"context"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/plan"
)

// newCommand holds that the command which head gives the integration runs, if base trusts it, and
// that no other one does.
func (o dossier) newCommand(context.Context) string {
	want, must := o.Tasks.NewCommand(o.name)
	must = must && o.need.action != plan.Skip
	runs := false
	for _, t := range o.plan.Tasks {
		if t.Integration != o.name || !t.NewCommand {
			continue
		}
		if !must || runs || t.ID != want.ID || t.Command != want.Command || !slices.Equal(t.Argv, want.Argv) ||
			t.Blocked != want.Blocked {
			return fmt.Sprintf("its task %q is not the command that head gives it", t.ID)
		}
		runs = true
	}
	if must && !runs {
		return "the command that head gives it is not run, although the settings trust it"
	}
	return ""
}
