package note

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// end ends the marker. Nothing in base64 can.
const end = " -->"

// maxMarker bounds the first line of a body that is read, in bytes.
const maxMarker = 1 << 20

// A state is what the marker of a note remembers.
type state struct {
	Version    int   `json:"v"` // 1
	Generation int64 `json:"g"`
	Now        run   `json:"now"`
	Before     *run  `json:"before,omitempty"` // what Now was compared with
}

// A run is what is remembered of one run.
type run struct {
	Plan    string         `json:"plan"`             // the first digits of its digest
	Commit  string         `json:"commit,omitempty"` // the first digits
	Verdict report.Verdict `json:"verdict"`
	Tasks   int            `json:"tasks"`
	// Unplanned is a run without a plan: the next one is compared with that before.
	Unplanned bool     `json:"unplanned,omitempty"`
	Failed    []string `json:"failed,omitzero"`  // hashes of the tasks that failed and block; nil: not known
	Checked   []string `json:"checked,omitzero"` // hashes of the integrations that were not skipped; nil: not known
}

var (
	commits = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
	digests = regexp.MustCompile(`^[0-9a-f]{0,12}$`)
)

// state returns what this note remembers. Of a body of the same generation only
// what that was compared with counts: it is this very run.
func (n Note) state(rep *report.Report, previous string, limit int) state {
	s := state{Version: 1, Generation: n.Serial, Now: n.now(rep)}
	if commits.MatchString(n.Commit) {
		s.Now.Commit = digits(n.Commit)
	}
	if before, ok := n.read(previous); ok {
		s.Before = &before.Now
		if before.Generation == n.Serial || before.Now.Unplanned {
			s.Before = before.Before
		}
	}
	s.Now.bound(limit)
	if s.Before != nil {
		s.Before.bound(limit)
		if s.Before.Commit == s.Now.Commit {
			s.Before.Commit = "" // the same commit, run again
		}
	}
	return s
}

// now returns what is remembered of this run, but for its commit.
func (n Note) now(rep *report.Report) run {
	if n.Plan == nil {
		return run{Verdict: rep.Verdict, Unplanned: true}
	}
	r := run{Plan: n.digest(), Verdict: rep.Verdict, Tasks: len(n.Plan.Tasks), Failed: []string{}, Checked: []string{}}
	for _, t := range rep.Results {
		if kindOf(t.Result) == failure {
			r.Failed = append(r.Failed, hash(t.Task))
		}
	}
	for _, d := range n.Plan.Integrations {
		if d.Decision != plan.Skip {
			r.Checked = append(r.Checked, hash(d.Name))
		}
	}
	return r
}

// bound forgets lists that are too long for a note with this limit, of which two
// runs together take a quarter, as base64.
func (r *run) bound(limit int) {
	for _, list := range []*[]string{&r.Checked, &r.Failed} {
		if raw, err := json.Marshal(r); err != nil || len(raw) > limit*3/32 {
			*list = nil
		}
	}
}

// read returns what the marker of a body says, if it is a note of this tool.
func (n Note) read(body string) (state, bool) {
	rest, ok := strings.CutPrefix(body, n.Marker())
	if !ok {
		return state{}, false
	}
	line, _, _ := strings.Cut(rest[:min(len(rest), maxMarker)], "\n")
	code, ok := strings.CutSuffix(strings.TrimRight(line, "\r"), end)
	if !ok {
		return state{}, false
	}
	raw, err := base64.RawStdEncoding.Strict().DecodeString(code)
	if err != nil {
		return state{}, false
	}
	var s state
	if err := json.Unmarshal(raw, &s); err != nil || s.Version != 1 || s.Generation < 0 || !s.Now.valid() || s.Before != nil && !s.Before.valid() {
		return state{}, false
	}
	return s, true
}

// valid reports whether what may be shown of a run is what we write.
func (r run) valid() bool {
	return digests.MatchString(r.Plan) && digests.MatchString(r.Commit) && r.Tasks >= 0 && (r.Verdict == report.Passed || r.Verdict == report.Failed || r.Verdict == report.NotChecked)
}

// failed returns the tasks that failed in this run, by hash, and whether that is
// known.
func (r *run) failed() (map[string]bool, bool) {
	if r == nil {
		return nil, false
	}
	return set(r.Failed)
}

// checked returns the integrations that were checked in this run, by hash, and
// whether that is known.
func (r *run) checked() (map[string]bool, bool) {
	if r == nil {
		return nil, false
	}
	return set(r.Checked)
}

func set(list []string) (map[string]bool, bool) {
	out := make(map[string]bool, len(list))
	for _, item := range list {
		out[item] = true
	}
	return out, list != nil
}

// encode returns the state as one word.
func (s state) encode() string {
	raw, err := json.Marshal(s)
	if err != nil {
		return "" // it holds nothing that JSON cannot
	}
	return base64.RawStdEncoding.EncodeToString(raw)
}

// hash returns the name under which a task or an integration is remembered.
func hash(name string) string {
	sum := sha256.Sum256([]byte(name))
	return base64.RawStdEncoding.EncodeToString(sum[:6])
}

// digest returns as much of the digest of the plan.
func (n Note) digest() string {
	if n.Plan == nil {
		return ""
	}
	return digits(strings.TrimPrefix(n.Plan.Digest, "sha256:"))
}

// digits returns as many digits of a digest as are remembered and shown.
func digits(hex string) string {
	if hex = hex[:min(len(hex), 12)]; digests.MatchString(hex) {
		return hex
	}
	return ""
}
