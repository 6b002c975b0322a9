package note

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// A run is what a marker stores about one run of the check.
type run struct {
	Plan    string       `json:"plan"`             // the first digits of the digest of the plan
	Commit  string       `json:"commit,omitempty"` // the first digits of the hash
	Verdict plan.Verdict `json:"verdict"`
	Tasks   int          `json:"tasks"`
	// Unplanned marks a run without a plan. The next run is not compared with it, but
	// with the run before it.
	Unplanned bool `json:"unplanned,omitempty"`
	// Effects are the numbers of the headline; nil if not known.
	Effects *report.EffectCounts `json:"effects,omitempty"`
	Failed  []string             `json:"failed,omitzero"` // hashes of the tasks that failed and block; nil if not known
	// hashes of the integrations that were not skipped; nil if not known
	Checked []string `json:"checked,omitzero"`
}

var (
	commitPattern = lazyregexp.New(`^[0-9a-f]{7,64}$`)
	digestPattern = lazyregexp.New(`^[0-9a-f]{0,12}$`)
)

// newRun returns what is stored about this run, without its commit.
func (n Note) newRun(rep *report.Report) run {
	if n.Plan == nil {
		return run{Verdict: rep.Verdict, Unplanned: true}
	}
	r := run{Plan: n.planDigest(), Verdict: n.verdict(rep), Tasks: len(n.Plan.Tasks), Failed: []string{},
		Checked: []string{}}
	if rep.Effects.Looked() {
		r.Effects = &rep.Effects.Counts
	}
	for _, t := range rep.Results {
		if classify(t.Result) == kindFailure {
			r.Failed = append(r.Failed, hashName(t.Task))
		}
	}
	for _, d := range n.Plan.Integrations {
		if d.Decision != plan.Skip {
			r.Checked = append(r.Checked, hashName(d.Name))
		}
	}
	return r
}

// dropLongLists drops lists that are too long for a note with this limit. Two runs
// together, in base64, may take a quarter of the limit.
func (r *run) dropLongLists(limit int) {
	for _, list := range []*[]string{&r.Checked, &r.Failed} {
		if raw, err := json.Marshal(r); err != nil || len(raw) > limit*3/32 {
			*list = nil
		}
	}
}

// isValid reports whether the fields that a note shows have the form in which we
// write them.
func (r run) isValid() bool {
	return digestPattern.MatchString(r.Plan) && digestPattern.MatchString(r.Commit) && r.Tasks >= 0 &&
		(r.Effects == nil || r.Effects.IsValid()) && (r.Verdict == plan.VerdictPassed || r.Verdict == plan.VerdictFailed ||
		r.Verdict == plan.VerdictNotChecked)
}

// failedHashes returns the hashes of the tasks that failed in this run, and whether
// they are known.
func (r *run) failedHashes() (map[string]bool, bool) {
	if r == nil {
		return nil, false
	}
	return newSet(r.Failed)
}

// checkedHashes returns the hashes of the integrations that were checked in this
// run, and whether they are known.
func (r *run) checkedHashes() (map[string]bool, bool) {
	if r == nil {
		return nil, false
	}
	return newSet(r.Checked)
}

// newSet returns the items of a list as a set, and whether the list is not nil.
func newSet(list []string) (map[string]bool, bool) {
	out := make(map[string]bool, len(list))
	for _, item := range list {
		out[item] = true
	}
	return out, list != nil
}

// markdownName returns the name of a run in Markdown: its commit or "the run
// before".
func (r *run) markdownName() string {
	if r.Commit == "" {
		return "the run before"
	}
	return md.Code(r.Commit)
}

// endVerb returns how a run ended, as a verb: "passed", "failed" or "was not checked".
func (r *run) endVerb() string {
	if r.Verdict == plan.VerdictNotChecked {
		return "was not checked"
	}
	return string(r.Verdict)
}

// htmlName returns the name of a run in HTML, for the summary of a fold.
func (r *run) htmlName() string {
	if r.Commit == "" {
		return r.markdownName()
	}
	return "<code>" + r.Commit + "</code>"
}

// hashName returns the short hash by which a marker stores a task or an
// integration.
func hashName(name string) string {
	sum := sha256.Sum256([]byte(name))
	return base64.RawStdEncoding.EncodeToString(sum[:6])
}

// planDigest returns the first digits of the digest of the plan, or "".
func (n Note) planDigest() string {
	if n.Plan == nil {
		return ""
	}
	return shortHash(strings.TrimPrefix(n.Plan.Digest, "sha256:"))
}

// shortHash returns the first 12 digits of a hash, or "" if it has other
// characters.
func shortHash(hex string) string {
	if hex = hex[:min(len(hex), 12)]; digestPattern.MatchString(hex) {
		return hex
	}
	return ""
}
