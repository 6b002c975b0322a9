package runner

import (
	"context"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
)

// precheckStateUsage is the help for the flag --state of precheck.
const precheckStateUsage = `folder, or s3://BUCKET/PREFIX, that remembers the queries and inputs of tasks that passed,
how long tasks took, and which are flaky; none remembers nothing (default: outside of a
job a folder of this checkout in the user's cache, whose results count for 10 minutes)`

// withState fills in the state of the inputs if the user named none.
func (f precheckFlags) withState(ctx context.Context, env cli.Env) change.Inputs {
	in := f.in
	switch {
	case in.State == change.NoState:
		in.State = ""
	case !f.isStateGiven:
		in = in.WithOwnState(ctx, env)
	}
	return in
}

// stateSize returns how many bytes the state may have; 0 for the usual.
func (f precheckFlags) stateSize() int64 {
	if f.in.HasOwnState {
		return change.OwnStateSize
	}
	return 0
}

// sayEarlier says on stderr what a plan leaves out because the state of the checkout has it. If the
// report is a text, it returns that line instead, which comes first.
func (f precheckFlags) sayEarlier(env cli.Env, p *plan.Plan) (first string) {
	if !f.in.HasOwnState {
		return ""
	}
	line := earlier(p)
	if f.form.String() == "text" {
		return line
	}
	_, _ = fmt.Fprint(env.Stderr, line) // only a note
	return ""
}

// earlier returns a line about what a plan leaves out because of earlier runs in this checkout, with the
// flags that run it; "" if nothing.
func earlier(p *plan.Plan) string {
	proven := 0
	for _, d := range p.Integrations {
		if len(d.Evidence.Traces) > 0 && (d.Decision == plan.Shards || d.Decision == plan.Skip && d.Rung != plan.RungResult) {
			proven++
		}
	}
	var parts []string
	switch n := p.Reused(); {
	case n == 1:
		parts = append(parts,
			fmt.Sprintf("1 task passed within the last %.0f minutes with the same inputs and is not run again (--no-reuse "+
				"runs it)", change.OwnReuse.Minutes()))
	case n > 1:
		parts = append(parts,
			fmt.Sprintf("%d tasks passed within the last %.0f minutes with the same inputs and are not run again (--no-reuse "+
				"runs them)", n, change.OwnReuse.Minutes()))
	}
	switch {
	case proven == 1:
		parts = append(parts, "1 integration is left out, or a part of it, by what it asked when it last passed here "+
			"(--state none runs it)")
	case proven > 1:
		parts = append(parts,
			fmt.Sprintf("%d integrations are left out, or parts of them, by what they asked when they last passed here "+
				"(--state none runs them)", proven))
	}
	if len(parts) == 0 {
		return ""
	}
	return "runner: " + strings.Join(parts, "; ") + "\n"
}
