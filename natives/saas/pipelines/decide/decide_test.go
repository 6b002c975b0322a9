package decide

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/shared"
)

// noon is the time at which cases happen.
var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// testPolicy names runs by counting them.
func testPolicy() Policy {
	n := 0
	return Policy{
		NewID: func(cell, fp string) string { n++; return fmt.Sprintf("id-%d", n) },
		Name:  func(cell, id string) string { return "run-" + id },
	}
}

// A decisionCase is a case of the area decision.
type decisionCase struct {
	Input struct {
		Targets    map[string]map[string]any
		Deprecated bool
		Provider   string
		Intent     *struct{ Phase, Fp, Observed string }
		Next       string
		Failed     *struct {
			Fp   string
			Runs int
		}
		Fp           *string
		Retry        any // how often a fingerprint may run, or the fingerprint that a person names
		Backoff      string
		Pipeline     json.RawMessage // "missing" or null: the cluster does not have it
		Timeout      string
		Observed     string
		DryRun       bool     `json:"dry_run"`
		OtherCell    string   `json:"other_cell"`
		VanishedDays int      `json:"vanished_days"`
		Back         string   // the data have the target again, with the same config or a changed one
		Cells        []string // each of them has one target whose config changed
	}
	Expected map[string]any
}

// scene is a cell with what is remembered of it, and the gates that it has.
type scene struct {
	cell   Cell
	memory Memory
	gates  Gates
	policy Policy
}

// decide decides as the loop does: the gates are asked only if a run would start.
func (s scene) decide() Decision {
	d := Decide(s.cell, s.memory, s.policy, noon)
	if d.NeedsGates {
		s.cell.Gates = &s.gates
		d = Decide(s.cell, s.memory, s.policy, noon)
	}
	return d
}

// config returns the signal of data with a value.
func config(value string) Signal {
	return Signal{Kind: Config, Value: value, Content: json.RawMessage(fmt.Sprintf(`{"value":%q}`, value))}
}

// holding returns the holding of the single target of cases about fingerprints.
func holding(value string) Holding { return Holding{"t": {Config: value}} }

// fingerprints makes the scene of a case that names fingerprints: one target whose data have the
// name as value.
func (c decisionCase) fingerprints() scene {
	applied := Applied{Key: "t", Values: Values{Config: "f0"}, Config: json.RawMessage(`{"value":"f0"}`)}
	s := scene{policy: testPolicy(), memory: Memory{Targets: map[string]Applied{"t": applied}, Next: c.Input.Next}}
	want := "f0"
	if f := c.Input.Failed; f != nil {
		s.memory.Failed = &Failure{ID: "failed", Fingerprint: holding(f.Fp).Fingerprint(), Run: "run-failed",
			Runs: max(f.Runs, 1), Since: noon.Add(-time.Hour), Why: "it failed",
			Own: holding(f.Fp), Holds: holding(f.Fp), Keys: map[string]string{"t": "t"}}
		want = f.Fp
	}
	if it := c.Input.Intent; it != nil {
		s.memory.Intent = &Intent{ID: "now", Fingerprint: holding(it.Fp).Fingerprint(), Run: "run-now",
			Phase: Phase(it.Phase), Since: noon.Add(-time.Minute),
			Holds: holding(it.Fp), Keys: map[string]string{"t": "t"},
			Configs: map[string]json.RawMessage{"t": config(it.Fp).Content}}
		want = it.Fp
		phases := map[string]RunPhase{"": Live, "running": Live, "succeeded": Succeeded, "failed": Errored,
			"cancelled": Errored}
		if phase, isThere := phases[strings.ToLower(it.Observed)]; isThere && it.Phase != string(Pending) {
			s.cell.Runs.List = append(s.cell.Runs.List, Run{Name: "run-now", Intent: "now", Phase: phase})
		}
	}
	if c.Input.Fp != nil {
		want = *c.Input.Fp
	}
	if strings.HasPrefix(c.Input.Observed, "manual run") {
		s.cell.Runs.List = append(s.cell.Runs.List, Run{Name: "by-hand", Intent: "failed", Phase: Succeeded})
	}
	if p := c.Input.Provider; p != "" && p != "tekton" {
		s.cell.Mistake = "the provider of pipelines is unknown: " + p
	}
	if is := string(c.Input.Pipeline); is == `"missing"` || is == "null" {
		s.gates.NoPipeline = "the pipeline is missing"
	}
	if d, err := time.ParseDuration(c.Input.Timeout); err == nil && d < time.Hour {
		s.cell.Mistake = "timeout " + c.Input.Timeout + " is smaller than 60 minutes"
	}
	s.cell.Targets = []WatchedTarget{{UID: "t", Key: "t", Label: "t", Signals: []Signal{config(want)}}}
	switch retry := c.Input.Retry.(type) {
	case float64:
		s.policy.Max = int(retry)
	case string:
		s.policy.Again = []string{holding(strings.TrimPrefix(retry, "retry: ")).Fingerprint()}
	}
	s.policy.Backoff = 10 * time.Minute
	if c.Input.Backoff != "" && c.Input.Backoff != "over" {
		s.policy.Backoff = 3 * time.Hour
	}
	return s
}

// targets makes the scene of a case that names targets with their signals.
func (c decisionCase) targets() scene {
	s := scene{policy: testPolicy(), memory: Memory{Targets: map[string]Applied{}},
		cell: Cell{Deprecated: c.Input.Deprecated}}
	for uid, words := range c.Input.Targets {
		t := WatchedTarget{UID: uid, Key: uid, Label: uid}
		t.Hotfix, _ = words["hotfix"].(bool)
		t.Delete, _ = words["delete"].(bool)
		applied := Applied{Key: uid, Values: Values{}, Config: config("same").Content}
		if words["config"] == nil {
			words["config"] = "same"
			if t.Delete {
				words["config"] = "changed"
			}
		}
		for _, k := range Kinds() {
			if word, ok := words[string(k)]; ok {
				applied.Values[k] = "same"
				t.Signals = append(t.Signals, signalOf(k, word, &applied))
			}
		}
		if stored, ok := words["stored"]; !ok || stored != nil {
			s.memory.Targets[uid] = applied
		}
		if isOff, _ := words["disable"].(bool); isOff {
			continue
		}
		s.gates.Gates = append(s.gates.Gates, gatesOf(words)...)
		s.cell.Targets = append(s.cell.Targets, t)
	}
	slices.SortFunc(s.cell.Targets, func(a, b WatchedTarget) int { return strings.Compare(a.UID, b.UID) })
	return s
}

// signalOf returns the signal for a word of a case.
func signalOf(k Kind, word any, applied *Applied) Signal {
	text, _ := word.(string)
	switch missing, isMissing := strings.CutPrefix(text, "missing "); {
	case text == "unknown":
		return Signal{Kind: k, Unknown: string(k) + " unknown"}
	case isMissing:
		return Signal{Kind: k, Wait: "image " + missing + " is not there"}
	case text == "running":
		applied.Values[k] = "1"
		return UpstreamSource{Job: "j", Builds: []services.Build{{Number: 2}, {Number: 1, Result: "SUCCESS"}}}.Signal()
	case k == Config:
		return config(text)
	case text != "":
		return Signal{Kind: k, Value: text, Reason: text}
	}
	var builds struct {
		Stored *int
		Builds []struct {
			N int
			R string
		}
	}
	raw, _ := json.Marshal(word)
	_ = json.Unmarshal(raw, &builds)
	delete(applied.Values, k)
	applied.TakenOver = true
	if builds.Stored != nil {
		applied.Values[k] = fmt.Sprint(*builds.Stored)
	}
	of := UpstreamSource{Job: "j"}
	for _, b := range builds.Builds {
		of.Builds = append(of.Builds, services.Build{Number: b.N, Result: strings.TrimPrefix(b.R, "RUNNING")})
	}
	return of.Signal()
}

// gatesOf returns the gates for the words of a target.
func gatesOf(words map[string]any) []Gate {
	var out []Gate
	switch slo, _ := words["slo"].(string); slo {
	case "", "ok", "kept", "open":
	case "unknown":
		out = append(out, Gate{Kind: SLOGate, Unknown: "it does not answer"})
	default:
		out = append(out, Gate{Kind: SLOGate, Closed: slo})
	}
	if gate, _ := words["gate"].(string); gate != "" && gate != "open" {
		out = append(out, Gate{Kind: PromotionGate, Closed: gate})
	}
	return out
}

func TestDecisionCases(t *testing.T) {
	shared.Each(t, "decision", func(t *testing.T, c decisionCase) {
		switch {
		case c.Input.VanishedDays > 0:
			checkVanished(t, c)
			return
		case c.Input.Cells != nil:
			checkCells(t, c)
			return
		}
		s := c.fingerprints()
		if c.Input.Targets != nil {
			s = c.targets()
		}
		checkDecision(t, c, s, s.decide())
	})
}

// checkDecision compares a decision with what a case expects.
func checkDecision(t *testing.T, c decisionCase, s scene, d Decision) {
	t.Helper()
	for key, want := range c.Expected {
		switch key {
		case "run":
			checkRun(t, c, d, want)
		case "held":
			if held := strings.ToLower(d.Hold); !strings.Contains(held, want.(string)) &&
				!strings.Contains(strings.ReplaceAll(held, ":", ""), want.(string)) {
				t.Errorf("held %q, want %q", d.Hold, want)
			}
		case "told":
			would, isStart := strings.CutPrefix(want.(string), "would start ")
			if isStart && d.Fingerprint != holding(would).Fingerprint() || !isStart && !strings.Contains(d.Hold, want.(string)) {
				t.Errorf("told %q %q, want %q", d.Fingerprint, d.Hold, want)
			}
		case "error":
			if got := len(d.Errors) > 0; got != want.(bool) {
				t.Errorf("errors %q, want %v", d.Errors, want)
			}
		case "state_writes":
			if same := reflect.DeepEqual(s.memory, d.Memory); same != (want == 0.0) && !c.Input.DryRun {
				t.Errorf("memory %+v after %+v, want %v writes", d.Memory, s.memory, want)
			}
		case "next":
			next := ""
			if name, isSome := want.(string); isSome {
				next = holding(name).Fingerprint()
			}
			if d.Memory.Next != next {
				t.Errorf("next %q, want %v", d.Memory.Next, want)
			}
		case "applied":
			if got := d.Memory.Targets["t"].Values[Config]; got != want {
				t.Errorf("applied %q, want %q", got, want)
			}
		case "failed":
			if failed, isMap := want.(map[string]any); isMap {
				want = failed["fp"]
			}
			name, isSome := want.(string)
			if (d.Memory.Failed != nil) != isSome || isSome && d.Memory.Failed.Fingerprint != holding(name).Fingerprint() {
				t.Errorf("failed %+v, want %v", d.Memory.Failed, want)
			}
		case "applied_after", "after":
			checkAfter(t, s, d, want)
		case "other_cell": // cells are decided one by one, see TestCellsAreAlone
		default:
			t.Fatalf("the driver does not know %q", key)
		}
	}
}

// checkRun compares the run that starts.
func checkRun(t *testing.T, c decisionCase, d Decision, want any) {
	t.Helper()
	starts := d.State == Start && d.Create
	switch want := want.(type) {
	case nil:
		if starts && !c.Input.DryRun {
			t.Errorf("a run starts: %+v", d)
		}
	case string:
		if !starts || d.Memory.Intent.Fingerprint != holding(want).Fingerprint() {
			t.Errorf("decided %+v, want a run of %s", d, want)
		}
	case map[string]any:
		var got []any
		for _, r := range d.Reasons {
			if !slices.Contains(got, any(string(r.Kind))) {
				got = append(got, string(r.Kind))
			}
		}
		if !starts || !reflect.DeepEqual(got, want["reasons"]) {
			t.Errorf("%s %q for %v, want a run for %v", d.State, d.Hold, got, want["reasons"])
		}
		if build, ok := want["build"]; ok && d.Memory.Intent.Holds["t1"][Upstream] != fmt.Sprint(build) {
			t.Errorf("it holds %v, want build %v", d.Memory.Intent.Holds, build)
		}
	}
}

// checkAfter lets the run succeed and compares what is then.
func checkAfter(t *testing.T, s scene, d Decision, want any) {
	t.Helper()
	s.memory = d.Memory
	s.cell.Runs.List = []Run{{Name: d.Memory.Intent.Run, Intent: d.Memory.Intent.ID, Phase: Succeeded}}
	after := s.decide()
	if want == "safe to remove" {
		if len(after.Finished) != 1 {
			t.Errorf("finished %v, want the target", after.Finished)
		}
		return
	}
	for _, kind := range want.([]any) {
		if after.Memory.Targets["t1"].Values[Kind(kind.(string))] == "" {
			t.Errorf("applied %v, want %v", after.Memory.Targets["t1"], want)
		}
	}
	if after.State != Same {
		t.Errorf("then %s %q, want %s", after.State, after.Hold, Same)
	}
}

// checkVanished compares what becomes of a target that is no longer in the data, or that is there again.
func checkVanished(t *testing.T, c decisionCase) {
	t.Helper()
	since := noon.Add(-time.Duration(c.Input.VanishedDays) * 24 * time.Hour)
	named := map[string]bool{"t": c.Input.Back != ""}
	forget, still := Forget(map[string]bool{"t": true}, named, map[string]time.Time{"t": since}, noon)
	if c.Input.Back != "" {
		s := cellOf("same", c.Input.Back)
		if len(still) > 0 {
			t.Errorf("it is there again, and gone since %v", still)
		}
		if forget["t"] || since.Before(noon.Add(-KeepGone)) { // a loop before this one forgot it
			s.memory = Memory{}
		}
		checkDecision(t, c, s, s.decide())
		return
	}
	got := "kept"
	if forget["t"] {
		got = "forgotten"
	}
	if got != c.Expected["state"] || forget["t"] == still["t"].Equal(since) {
		t.Errorf("%s, gone since %v, want %v", got, still, c.Expected["state"])
	}
}

// checkCells compares how many runs start for some cells.
func checkCells(t *testing.T, c decisionCase) {
	t.Helper()
	runs := 0
	for _, name := range c.Input.Cells {
		s := cellOf("a", "b")
		s.cell.Key = name
		if d := s.decide(); d.State == Start && d.Create {
			runs++
		}
	}
	for word, want := range c.Expected {
		if word != "runs" || want != float64(runs) {
			t.Errorf("%d runs start, want %s %v", runs, word, want)
		}
	}
}

func TestCellsAreAlone(t *testing.T) {
	// What holds one cell is no argument of another one, so this only says that nothing is shared.
	var c decisionCase
	c.Input.Targets = map[string]map[string]any{"t1": {"config": "changed"}}
	held, free := c.targets(), c.targets()
	held.gates.Gates = []Gate{{Kind: SLOGate, Unknown: "no answer"}}
	if a, b := held.decide(), free.decide(); a.State != Held || b.State != Start {
		t.Errorf("%s and %s, want %s and %s", a.State, b.State, Held, Start)
	}
}
