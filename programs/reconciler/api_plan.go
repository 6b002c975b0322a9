package reconciler

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/safepath"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// apiPlanFlags are what reconciler api plan is given.
type apiPlanFlags struct {
	apiFlags
	applied, desired, live string
	overlay                rules.Overlay
	allowReplace           bool
	allowUpdate            []string
}

func apiPlanCommand(env cli.Env) *cobra.Command {
	var f apiPlanFlags
	cmd := &cobra.Command{
		Use:   "plan --specs DIR --desired FILE [--live FILE [--applied FILE]] TYPE",
		Short: "Plan what has to change in a resource, from bodies in files",
		Long: `plan compares three bodies of a resource, each a JSON file: what was applied last, what
is desired, and what is live. It shows what would change and why, and what is refused.
It asks no service. Without --live the resource is not there; without --applied it was
never applied, so nothing is removed.`,
		Example: `  reconciler api plan --specs specs --desired new.json --live now.json Microsoft.Cache/Redis@2018-03-01
  reconciler api plan --specs specs --applied old.json --desired new.json --live old.json --format markdown apps/v1/deployments
  reconciler api plan --specs specs --desired new.json --live now.json --format json v3/shelves | jq .changes`,
		Args:              cli.Takes("TYPE"),
		ValidArgsFunction: f.complete(env),
		RunE:              func(_ *cobra.Command, args []string) error { return f.run(env, args[0]) },
	}
	f.add(cmd)
	f.addOverrides(cmd)
	f.form = cli.OneOf("text", "json", "markdown")
	cmd.Flags().Lookup("format").Usage = "how to write it: text, json or markdown"
	cmd.Flags().StringVar(&f.desired, "desired", "", "JSON file with the body that is desired (required)")
	cmd.Flags().StringVar(&f.live, "live", "", "JSON file with the body that the service answers")
	cmd.Flags().StringVar(&f.applied, "applied", "", "JSON file with the body that was applied last")
	cmd.Flags().BoolVar(&f.allowReplace, "allow-replace", false, "a create-only change may delete and create")
	cmd.Flags().StringArrayVar(&f.allowUpdate, "allow-update", nil,
		"a place that can be changed although it is inferred to be create-only, can be repeated")
	cmd.Flags().StringArrayVar(&f.overlay.Ignore, "ignore", nil, "a place that is not compared, can be repeated")
	cmd.Flags().StringArrayVar(&f.overlay.Exclusive, "exclusive", nil,
		"a list in which items of others are removed, can be repeated")
	return cmd
}

func (f *apiPlanFlags) run(env cli.Env, name string) error {
	in, err := f.input()
	if err != nil {
		return err
	}
	index, overrides, err := f.open(env)
	if err != nil {
		return err
	}
	types, err := index.Find(name)
	if err != nil {
		return cli.Usage(err)
	}
	if in.Rules, err = f.rules(types[0], overrides); err != nil {
		return cli.Invalid(err)
	}
	p := threeway.Make(in)
	write := map[string]func(io.Writer) error{"text": p.WriteText, "json": p.WriteJSON,
		"markdown": p.WriteMarkdown}[f.form.String()]
	if err := write(env.Stdout); err != nil {
		return err
	}
	if p.Action == threeway.Blocked {
		return cli.ErrFailed
	}
	return nil
}

func (f *apiPlanFlags) rules(t *resources.Type, overrides []*classes.Overrides) (rules.Rules, error) {
	c, err := classes.New(t, overrides...)
	if err != nil {
		return nil, err
	}
	return rules.With(rules.Of(c, nil), f.overlay), nil
}

// input reads the bodies.
func (f *apiPlanFlags) input() (threeway.Input, error) {
	in := threeway.Input{AllowReplace: f.allowReplace, AllowUpdate: f.allowUpdate, WasApplied: f.applied != "",
		IsThere: f.live != "",
		Key:     []byte("the bodies have each value as it is, so nothing is hashed")}
	if f.desired == "" {
		return in, cli.Usage(errors.New("--desired is required: the JSON file with the body that is desired"))
	}
	for flag, places := range map[string][]string{"allow-update": f.allowUpdate, "ignore": f.overlay.Ignore,
		"exclusive": f.overlay.Exclusive} {
		for _, place := range places {
			if err := rules.CheckPlace(place); err != nil {
				return in, cli.Usage(fmt.Errorf("--%s: %w", flag, err))
			}
		}
	}
	for _, one := range []struct {
		flag, file string
		to         *any
	}{{"desired", f.desired, &in.Desired}, {"live", f.live, &in.Live}, {"applied", f.applied, &in.Applied}} {
		if one.file == "" {
			continue
		}
		v, err := readBody(one.file)
		if err != nil {
			return in, cli.Invalid(fmt.Errorf("--%s %q: %w", one.flag, one.file, err))
		}
		*one.to = v
	}
	return in, nil
}

// maxBody is the length in bytes of the longest body that is read.
const maxBody = 8 << 20

func readBody(name string) (map[string]any, error) {
	file, err := safepath.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxBody+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxBody {
		return nil, fmt.Errorf("it is larger than %d MiB", maxBody>>20)
	}
	v, err := body.Parse(raw)
	if err != nil {
		return nil, err
	}
	members, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("it is no JSON object")
	}
	return members, nil
}
