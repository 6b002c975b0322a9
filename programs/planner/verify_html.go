package planner

import (
	"context"
	"io"
	"slices"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/planner/peer"
	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/report/proofs"
)

// writeProofPage writes the page that shows what is proven, to a file or to
// stdout. It writes nothing if the name is "".
func writeProofPage(ctx context.Context, env cli.Env, name string, opened *change.Change, p *plan.Plan, r proof.Report,
	answers *peer.Answers) error {
	if name == "" {
		return nil
	}
	in := proofs.Input{Plan: p, Assumed: map[plan.Assumption]int{}}
	for a, names := range r.Assumed {
		in.Assumed[a] = len(names)
	}
	if answers != nil {
		in.Server = answers.Server + ": " + answers.Numbers()
	}
	err := opened.With(ctx, func(from planner.Input) (err error) {
		in.Subjects, err = proofSubjects(from, r)
		return err
	})
	if err != nil {
		return err
	}
	if name == "-" {
		return proofs.HTML(env.Stdout, in)
	}
	return cli.WriteFile(name, func(w io.Writer) error { return proofs.HTML(w, in) })
}

// proofSubjects returns what the bundles and the settings say that each integration reads,
// with the verdict of the replay.
func proofSubjects(in planner.Input, r proof.Report) (map[string]proofs.Subject, error) {
	out := map[string]proofs.Subject{}
	for _, side := range []*bundle.Bundle{in.Base, in.Head} {
		definitions, err := integration.List(side, in.Settings)
		if err != nil {
			return nil, err
		}
		for _, d := range definitions {
			s := out[d.Name]
			for _, schema := range d.Schemas {
				s.Schemas = append(s.Schemas, string(schema))
			}
			out[d.Name] = s
		}
	}
	for name, s := range out {
		slices.Sort(s.Schemas)
		s.Schemas = slices.Compact(s.Schemas)
		for _, q := range in.Settings.For(name).Queries {
			s.Queries = append(s.Queries, q.Path)
		}
		s.Verdict = proofs.Runs
		switch {
		case slices.Contains(r.Proven, name):
			s.Verdict = proofs.Proven
		case slices.Contains(r.Believed, name):
			s.Verdict = proofs.Believed
		}
		for _, a := range plan.Assumptions() {
			if slices.Contains(r.Assumed[a], name) {
				s.Assumed = append(s.Assumed, a)
			}
		}
		out[name] = s
	}
	for _, g := range r.Refuted {
		s := out[g.Integration]
		s.Verdict, s.Why = proofs.Refuted, g.Why
		out[g.Integration] = s
	}
	return out, nil
}
