package pipelines

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
)

// codeBase says that the data of base cannot be read.
const codeBase = "BASE_UNREADABLE"

// Preview implements [integration.Previewer].
func (n native) Preview(ctx context.Context, base, head integration.QueryFunc,
	it settings.Integration) ([]string, error) {
	s, err := readSettings(it.Own)
	if err != nil {
		return nil, err
	}
	after, err := saas.Read(ctx, head, s.Settings)
	if err != nil {
		return nil, fmt.Errorf("reading the saas files: %w", err)
	}
	before, err := saas.Read(ctx, base, s.Settings)
	if err != nil {
		return nil, fmt.Errorf("reading the saas files of base: %w", err)
	}
	p := saas.NewPreview(before, after)
	var out []string
	for _, l := range p.Runs {
		out = append(out, l.String())
	}
	for _, l := range p.Promotions {
		out = append(out, "promotion: "+l.String())
	}
	for _, l := range p.Unknown {
		out = append(out, "not known: "+l.String())
	}
	return out, nil
}

// preview reports, in a merge request, which runs the merge would start. It asks nobody: what
// branches, registries and records say does not change by a merge.
func (n native) preview(ctx context.Context, env integration.Environment) error {
	env = env.WithDefaults()
	s, err := readSettings(env.Settings.Own)
	if err != nil {
		return nothingDone(integration.Failure(integration.FailureOfConfig, err))
	}
	head, err := saas.Read(ctx, env.Query, s.Settings)
	if err != nil {
		return nothingDone(fmt.Errorf("reading the saas files: %w", err))
	}
	files, _, err := choose(env, head)
	if err != nil {
		return nothingDone(integration.Failure(integration.FailureOfConfig, err))
	}
	base, err := saas.Read(ctx, env.Base, s.Settings)
	if err != nil {
		env.Report(finding(codeBase, plan.SeverityWarning, plan.Place{},
			"the saas files of base cannot be read, so it is not known what the merge starts: "+err.Error()))
		env.Report(integration.Remark{Unlooked: &plan.Unlooked{What: plan.UnlookedAll, Entries: len(files), Code: codeBase,
			Why: "the saas files of base cannot be read"}})
		return nil
	}
	isMine := func(l saas.PreviewLine) bool {
		name, _, _ := strings.Cut(l.Subject, "/")
		return slices.ContainsFunc(files, func(f *saas.File) bool { return f.Name == name })
	}
	p := saas.NewPreview(base, head)
	for _, lines := range []*[]saas.PreviewLine{&p.Runs, &p.Promotions, &p.Unknown} {
		*lines = slices.DeleteFunc(*lines, func(l saas.PreviewLine) bool { return !isMine(l) })
		for _, l := range *lines {
			say(env, l.String())
		}
	}
	for _, f := range p.Findings() {
		env.Report(f)
	}
	return nil
}
