package report

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// A NeededLabel is a label that a merge request needs because of its effects.
type NeededLabel struct {
	Label string `json:"label"`
	Why   string `json:"why"` // such as "1 to delete, effects of 2 tasks unknown"
}

// neededLabels returns the labels that the effects need. A label is needed if the tasks
// announce an effect of its kind that base is not known to announce as well, if the effects
// of a task are not known, or if the change may have one at a part that nobody looked at.
func (e AllEffects) neededLabels(require map[plan.EffectKind]string) []NeededLabel {
	var labels []string
	why := map[string][]string{}
	for _, kind := range plan.EffectKinds() {
		label := require[kind]
		unasked := e.mayHave(kind)
		if label == "" || e.Counts.Of(kind)+e.doubtful()+unasked == 0 {
			continue
		}
		if _, known := why[label]; !known {
			labels, why[label] = append(labels, label), nil
		}
		var one EffectCounts
		one.add(kind, e.Counts.Of(kind))
		why[label] = append(why[label], countEffects(one, plainly)...)
		if unasked > 0 {
			why[label] = append(why[label], phrase.Count(unasked, "part")+" not looked at, where things may be deleted")
		}
	}
	var out []NeededLabel
	for _, label := range labels {
		reasons := why[label]
		switch {
		case !e.Looked():
			reasons = append(reasons, "nobody looked for effects")
		case e.doubtful() > 0:
			reasons = append(reasons, "effects of "+phrase.Count(e.doubtful(), "task")+" unknown")
		}
		out = append(out, NeededLabel{label, strings.Join(reasons, ", ")})
	}
	return out
}

// String says which label is needed, and why.
func (l NeededLabel) String() string {
	return fmt.Sprintf("needs the label %q: %s", Printable(l.Label), l.Why)
}
