package runner

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/runner"
	"github.com/app-sre/prcheck/source"
)

// planFlags name a plan, and the bundles and settings that it was made from.
type planFlags struct{ plan, base, head, config string }

// register adds the flags to a command.
func (f *planFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.plan, "plan", "", "plan that planner wrote (required)")
	cmd.Flags().StringVar(&f.base, "base", "", "bundle before the change, if it is not where the plan says")
	cmd.Flags().StringVar(&f.head, "head", "", "bundle with the change, if it is not where the plan says")
	cmd.Flags().StringVar(&f.config, "config", "",
		"settings the plan was made with: a file, base:PATH or git:REV[@DIR]:PATH (default prcheck.yaml, here or of the "+
			"plan's base)")
}

// rules reads the settings of the plan.
func (f planFlags) rules(ctx context.Context, env cli.Env, p *plan.Plan) (source.OpenedSettings, error) {
	if err := change.Reach(ctx, env, p.Base.Ref); err != nil && f.base == "" {
		return source.OpenedSettings{}, err
	}
	rules, err := change.SettingsOfPlan(ctx, f.config, p)
	if err == nil {
		err = cli.Invalid(runner.CheckSettings(p, rules.Settings))
	}
	return rules, err
}

// bundle opens the bundle of one side. An error means that it cannot be read, or that it
// is not the bundle that the plan was made from.
func (f planFlags) bundle(ctx context.Context, open source.Opener, flag string, side plan.Side,
	like *bundle.Bundle) (*bundle.Bundle, error) {
	name := f.reference(flag, side)
	b, err := open.Bundle(ctx, name, like)
	if err != nil {
		return nil, err
	}
	return b, cli.Invalid(side.CheckBundle(name, b.SHA256()))
}

// reference returns where the bundle of one side is: the value of the flag, or where the
// plan says. A file that is not there is looked for in the folder of the plan.
func (f planFlags) reference(flag string, side plan.Side) string {
	if flag != "" {
		return flag
	}
	name := side.Ref
	if source.IsLive(name) || source.IsCheckout(name) || source.IsObject(name) {
		return name
	}
	name = filepath.FromSlash(name)
	if _, err := os.Stat(name); err != nil && !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(f.plan), name)
	}
	return name
}
