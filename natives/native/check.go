package native

import (
	"context"
	"fmt"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
)

// check reports what the data of both sides say about a change.
func (w *work) check(ctx context.Context) error {
	if w.Check == nil || w.env.Base == nil {
		return nil
	}
	all, err := w.Check(ctx, w.env)
	if err != nil {
		return fmt.Errorf("checking the change by the data: %w", err)
	}
	for _, f := range all {
		if f.Severity == plan.SeverityError && !f.Old {
			w.errors++
		}
		// the log is for people
		_, _ = fmt.Fprintln(w.env.Log, sanitize.Line(fmt.Sprintf("%s %s %s", f.Severity, f.Code, f.Message)))
		w.env.Report(integration.Remark{Finding: f})
	}
	return nil
}
