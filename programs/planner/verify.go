package planner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/planner/peer"
	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/report/proofs"
	"github.com/app-sre/prcheck/source"
)

// verifyFlags are the flags of verify.
type verifyFlags struct {
	plan, page, server string
	form               cli.Choice
	in                 change.Inputs
}

func verifyCommand(env cli.Env, natives []integration.DryRunner) *cobra.Command {
	f := verifyFlags{form: cli.OneOf("text", "json"), in: change.Inputs{Natives: natives}}
	cmd := &cobra.Command{
		Use:   "verify --plan FILE --base REF --head REF [--config FILE] [--server URL]",
		Short: "Replay every skip of a plan from the two bundles",
		Long: `verify proves once more what a plan leaves out, the slow way and by other code
than that which made the plan: both bundles are decoded as a whole, all queries
are answered as a whole, and all rules are asked anew. Exit code 1 and a list
when something is left out that cannot be proven. What was left out by traces or
earlier results is proven by the --state that the plan was made with.

These things are taken as they are: how bundles are split into files, the settings
and what head edits of the rules, answers to GraphQL queries, and how work is divided
into tasks.

With --server a running qontract-server is asked each query on which a skip rests,
on both bundles, and its answers are compared with prcheck's own. So answers need
not be taken as they are. The server must have loaded both bundle files. Another
answer refutes the skip (exit code 1). A question that the server does not answer
leaves the skip believed at most (exit code 3). The variable PRCHECK_AUTHORIZATION
is sent as the Authorization header.

With --html the proof of each skip is a page for a person: both sides, what the
integration reads, what of that differs, and what that rules out.`,
		Example: `  planner verify --plan plan.json --base base.json --head head.json --config prcheck.yaml
  planner verify --plan plan.json --base base.json --head head.json --html proof.html
  planner verify --plan plan.json --base base.json --head head.json --server http://127.0.0.1:4000 --format json | jq .server`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return verify(git.Pin(cmd.Context()), env, f)
		},
	}
	cmd.Flags().StringVar(&f.plan, "plan", "", "plan to verify (required)")
	cmd.Flags().StringVar(&f.page, "html", "", "file that gets a page with the proof of each skip; - is stdout, in "+
		"place of the text")
	cmd.Flags().Var(&f.form, "format", "how to write the proof to stdout: text or json")
	addServerFlag(cmd, &f.server)
	addInputFlags(cmd, &f.in)
	return cmd
}

// verify checks the plan of a file and writes the proof, also to a page if that has a name.
func verify(ctx context.Context, env cli.Env, f verifyFlags) error {
	if f.page == "-" && f.form.String() != "text" {
		return cli.Usage(errors.New("--html - writes the page in place of the text: give the page a file, or leave " +
			"--format out"))
	}
	p, err := source.ReadPlan(f.plan)
	if err != nil {
		return err
	}
	in, err := f.in.Complete(ctx, env)
	if err != nil {
		return err
	}
	at, err := in.Peer(env, f.server)
	if err != nil {
		return err
	}
	in.Writes, in.Plan = []string{f.page}, p
	opened, err := in.Open(ctx, env)
	if err != nil {
		return err
	}
	var seen change.Witness
	r, err := opened.VerifyBefore(ctx, p, &seen)
	if err != nil {
		return err
	}
	var answers *peer.Answers
	if at != nil {
		if answers, r, err = opened.AskPeer(ctx, at, r, tellProgress(env.Stderr, time.Now)); err != nil {
			return err
		}
	}
	if err := writeProofPage(ctx, env, f.page, opened, p, replayed{r, answers, &seen}); err != nil {
		return err
	}
	switch {
	case f.page == "-":
	case f.form.String() == "json":
		err = writeProofJSON(env.Stdout, p, r, answers)
	default:
		err = writeProof(env.Stdout, p, r, answers)
	}
	if err != nil {
		return err
	}
	if len(r.Refuted) > 0 {
		hintAtState(env.Stderr, opened, p)
		return cli.ErrFailed
	}
	return unasked(answers)
}

// hintAtState says what is missing when a plan that rests on a state is verified without one.
func hintAtState(w io.Writer, opened *change.Change, p *plan.Plan) {
	if opened.State == nil && slices.ContainsFunc(p.Integrations, usesState) {
		// only a hint
		_, _ = fmt.Fprintln(w, "planner: the plan leaves out what traces or earlier results prove: give the --state that "+
			"it was made with")
	}
}

// usesState reports whether a decision is proven by traces or by earlier results.
func usesState(d plan.Decision) bool { return len(d.Evidence.Traces)+len(d.Evidence.Passed) > 0 }

// writeProof writes what does not hold, or that all decisions do, and how many skips are
// proven, believed and refuted; then how a server answered, if one was asked.
func writeProof(w io.Writer, p *plan.Plan, r proof.Report, answers *peer.Answers) error {
	for _, g := range r.Refuted {
		if _, err := fmt.Fprintf(w, "%s: %s\n", report.Printable(g.Integration), report.Printable(g.Why)); err != nil {
			return err
		}
	}
	if len(r.Refuted) == 0 {
		if _, err := fmt.Fprintf(w, "all %d decisions hold\n", len(p.Integrations)); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(w, "skips: %d proven, %d believed, %d refuted\n", len(r.Proven), len(r.Believed),
		len(r.Refuted)); err != nil {
		return err
	}
	for _, a := range plan.Assumptions() {
		if n := len(r.Assumed[a]); n > 0 {
			if _, err := fmt.Fprintf(w, "assumed: %s\n", a.Sentence(n)); err != nil {
				return err
			}
		}
	}
	taken := "answers to queries, "
	if answers != nil {
		if err := writeAnswers(w, answers); err != nil {
			return err
		}
		if answers.Confirm() {
			taken = ""
		}
	}
	_, err := fmt.Fprintf(w, "taken as they are: files of bundles, settings, edits of rules, %sdivision into tasks\n",
		taken)
	return err
}

// writeProofJSON writes the same as JSON.
func writeProofJSON(w io.Writer, p *plan.Plan, r proof.Report, answers *peer.Answers) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Version   string                       `json:"version"`
		Decisions int                          `json:"decisions"`
		Proven    []string                     `json:"proven"`
		Believed  []string                     `json:"believed"`
		Refuted   []proof.Gap                  `json:"refuted"`
		Assumed   map[plan.Assumption][]string `json:"assumed"`
		Server    *peer.Answers                `json:"server,omitempty"`
	}{plan.Version, len(p.Integrations), listed(r.Proven), listed(r.Believed), listed(r.Refuted), assumedOf(r), answers})
}

// listed returns a list that is written as one also if it is empty.
func listed[T any](items []T) []T { return append([]T{}, items...) }

// assumedOf returns the assumptions on which anything rests.
func assumedOf(r proof.Report) map[plan.Assumption][]string {
	out := map[plan.Assumption][]string{}
	for a, names := range r.Assumed {
		if len(names) > 0 {
			out[a] = names
		}
	}
	return out
}

// A replayed plan is what the replay says, with the answers of a server if one was asked, and what it looked at.
type replayed struct {
	proof   proof.Report
	answers *peer.Answers
	seen    *change.Witness
}

// asked returns the queries of an integration: those that the settings declare, or those of the runs on which its skip
// rests.
func asked(in planner.Input, p *plan.Plan, name string, seen *change.Witness) (out []proofs.Query) {
	for _, q := range in.Settings.For(name).Queries {
		text, err := in.ReadQuery(q.Path)
		if err != nil {
			text = nil // the replay has told it
		}
		out = append(out, proofs.Query{Name: q.Path, Text: string(text)})
	}
	d, _ := p.Decision(name)
	var digests []string
	for _, t := range d.Evidence.Traces {
		digests = append(digests, t.Digest)
	}
	known := map[string]bool{}
	for _, t := range seen.Traces(name, digests) {
		for _, r := range t.Requests {
			if !known[r.Query] {
				known[r.Query] = true
				out = append(out, proofs.Query{Name: r.Name(), Text: r.Query})
			}
		}
	}
	return out
}

// used returns the files that runs of an integration used, sorted.
func used(name string, seen *change.Witness) (out []string) {
	for _, r := range seen.Reads(name) {
		path := r.Path
		if r.Lists {
			path += "/ (its names)"
		}
		out = append(out, path)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// writeProofPage writes the page that shows what is proven, to a file or to
// stdout. It writes nothing if the name is "".
func writeProofPage(ctx context.Context, env cli.Env, name string, opened *change.Change, p *plan.Plan,
	of replayed) error {
	if name == "" {
		return nil
	}
	in := proofs.Input{Plan: p, Assumed: map[plan.Assumption]int{}}
	for a, names := range of.proof.Assumed {
		in.Assumed[a] = len(names)
	}
	if of.answers != nil {
		in.Server = of.answers.Server + ": " + of.answers.Numbers()
	}
	in.Changed = opened.ChangedFiles()
	err := opened.With(ctx, func(from planner.Input) (err error) {
		in.Subjects, err = proofSubjects(from, p, of)
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
func proofSubjects(in planner.Input, p *plan.Plan, of replayed) (map[string]proofs.Subject, error) {
	out, r := map[string]proofs.Subject{}, of.proof
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
		s.Queries, s.Reads = asked(in, p, name, of.seen), used(name, of.seen)
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
