package proofs

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// assumedSentences say of one integration what nobody has proven.
var assumedSentences = map[plan.Assumption]string{
	plan.AssumedOrder: "That the order of lists makes no difference to it is believed: the settings let the order " +
		"of lists not count.",
	plan.AssumedSchemas: "That it reads nothing else is believed: no run, no trace and no strict setting stands " +
		"behind it.",
	plan.AssumedReads: "That its program opens no file that changed is believed: no run of it was recorded.",
	plan.AssumedRuns: "That its earlier run read no more than the settings allow is believed: that run was not " +
		"recorded.",
	plan.AssumedEnvironment: "That the declared environment is the same for all runs is believed.",
	plan.AssumedAnswers:     "That the server would have answered as prcheck does is believed: it did not answer.",
}

// follows says in sentences what the facts of a row rule out.
func follows(d plan.Decision, r row, c plan.Changes) []string {
	if r.Verdict == Refuted {
		return []string{"The replay does not agree with the plan: " + r.Why + ".",
			"So nothing is ruled out: do not trust this plan."}
	}
	var out []string
	if d.Decision != plan.Skip {
		out = append(out, "It runs, so nothing has to be proven about what runs.")
	} else {
		out = append(out, skipped(d, r, c)...)
	}
	if n := len(d.Evidence.Keys); d.Decision == plan.Shards && n > 0 {
		out = append(out,
			fmt.Sprintf("The desired states of both sides differ in %s only: no other shard can see a difference.",
				phrase.Count(n, "shard")))
	}
	if n := d.Evidence.Reused; n > 0 {
		out = append(out, fmt.Sprintf("%s passed before with the same inputs, so what they would do is known.",
			phrase.Count(n, "more task")))
	}
	for _, a := range r.Assumed {
		if s := assumedSentences[a]; s != "" {
			out = append(out, s)
		}
	}
	if r.Verdict == Believed && len(r.Assumed) == 0 {
		out = append(out, assumedSentences[plan.AssumedSchemas])
	}
	return out
}

// skipped says why a skipped integration cannot see the change.
func skipped(d plan.Decision, r row, c plan.Changes) []string {
	if len(d.Evidence.Traces) > 0 {
		return []string{"Its tasks passed before, and everything that they asked then has the same answer now."}
	}
	ruledOut := d.Rung.RulesOut()
	switch d.Rung {
	case plan.RungDefinition:
		ruledOut = strings.TrimSuffix(ruledOut, ".") + ": " + d.Reason + "."
	case plan.RungSchema:
		if len(r.Differs.Shown) > 0 || r.Same == 0 {
			return []string{fmt.Sprintf("Of %s, none makes a difference to it: %s.",
				phrase.Count(len(c.Datafiles), "changed datafile"), d.Reason)}
		}
		ruledOut = strings.TrimSuffix(ruledOut, ".") + " (" + phrase.Count(r.Same, "schema") + ")."
	}
	return []string{ruledOut}
}
