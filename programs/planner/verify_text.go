package planner

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner/peer"
	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/report"
)

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
