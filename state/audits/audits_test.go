package audits_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/audits"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func open(t *testing.T) (audits.Store, string) {
	t.Helper()
	dir := t.TempDir()
	in, err := state.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return audits.NewStore(in), dir
}

func audit(units ...plan.Audited) *plan.Audit { return &plan.Audit{Units: units} }

func unit(name string, rung plan.Rung, o plan.AuditOutcome) plan.Audited {
	return plan.Audited{Integration: name, Rung: rung, Outcome: o, Finding: "x", Remedy: "y"}
}

func add(t *testing.T, s audits.Store, a *plan.Audit, at time.Time) audits.AuditSnapshot {
	t.Helper()
	out, err := s.Add(t.Context(), a, at)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A miss is open until it is confirmed, and again when it is found again. Counts add up, and
// those of more than a year ago are forgotten.
func TestMisses(t *testing.T) {
	s, _ := open(t)
	add(t, s, audit(unit("a", plan.RungSchema, plan.AuditRight)), noon.AddDate(-1, 0, -2))
	add(t, s, audit(unit("a", plan.RungSchema, plan.AuditRight), unit("b", plan.RungState, plan.AuditLeft)),
		noon.AddDate(0, 0, -40))
	got := add(t, s, audit(unit("a", plan.RungSchema, plan.AuditWrong), unit("a", plan.RungSchema, plan.AuditWrong),
		unit("b", plan.RungState, plan.AuditUnclear)), noon)
	if total := fmt.Sprint(got.Total(noon.AddDate(-2, 0,
		0))); total !=
		"map[schema:2 wrong of 3 audited skips: less than 99 % state:0 wrong of 0 audited skips; 1 more could not be compared]" {
		t.Errorf("got %s", total)
	}
	if n := plan.Sum(got.Total(noon.AddDate(0, 0, -30))); n != (plan.AuditCount{Wrong: 2, Unclear: 1}) {
		t.Errorf("of the last days: got %+v", n)
	}
	isDistrusted := func(name string, rung plan.Rung) bool {
		now, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return now.Distrusted(name)[rung] != ""
	}
	if !isDistrusted("a", plan.RungSchema) || isDistrusted("a", plan.RungState) || isDistrusted("b", plan.RungState) ||
		isDistrusted("", plan.RungSchema) {
		t.Error("only the rung schema is distrusted, about a")
	}
	if m := got.Misses(); len(m) != 1 || m[0].Times != 2 || !m[0].IsOpen() || m[0].Remedy != "y" {
		t.Errorf("got %+v", m)
	}
	if found, err := s.Confirm(t.Context(), "b", noon); found || err != nil {
		t.Errorf("b has no miss: %v, %v", found, err)
	}
	if found, err := s.Confirm(t.Context(), "a", noon); !found || err != nil || isDistrusted("a", plan.RungSchema) {
		t.Errorf("after it is confirmed: %v, %v", found, err)
	}
	if add(t, s, audit(unit("a", plan.RungSchema, plan.AuditWrong)), noon.AddDate(0, 0, 1)); !isDistrusted("a",
		plan.RungSchema) {
		t.Error("it was found again and is not open")
	}
}

// Several processes may add at once, and nothing is lost.
func TestAddAtOnce(t *testing.T) {
	s, _ := open(t)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			add(t, s, audit(unit(fmt.Sprint(i), plan.RungSchema, plan.AuditWrong), unit("", plan.RungState, plan.AuditRight)),
				noon)
		})
	}
	all.Wait()
	got, err := s.Snapshot(t.Context())
	if err != nil || len(got.Misses()) != 20 || plan.Sum(got.Total(noon)) != (plan.AuditCount{Right: 20, Wrong: 20}) {
		t.Errorf("got %d misses, %v, %v", len(got.Misses()), got.Total(noon), err)
	}
}

// The document is bounded. Confirmed misses make room; if all are open, nothing is believed.
func TestTooMany(t *testing.T) {
	s, _ := open(t)
	var units []plan.Audited
	for i := range 2000 {
		u := unit(fmt.Sprint("i", i), plan.RungSchema, plan.AuditWrong)
		u.Finding = strings.Repeat("x", 5000)
		units = append(units, u)
	}
	got := add(t, s, audit(units...), noon)
	if len(got.Misses()) != 2000 || len(got.Distrusted("other")) > 0 {
		t.Fatalf("got %d", len(got.Misses()))
	}
	if _, err := s.Confirm(t.Context(), "i7", noon); err != nil {
		t.Fatal(err)
	}
	got = add(t, s, audit(unit("n1", plan.RungSchema, plan.AuditWrong)), noon)
	if slices.ContainsFunc(got.Misses(), func(m audits.Miss) bool { return m.Integration == "i7" }) ||
		len(got.Distrusted("other")) > 0 || len(got.Distrusted("n1")) != 1 {
		t.Error("the confirmed miss did not make room")
	}
	got = add(t, s, audit(unit("n2", plan.RungSchema, plan.AuditWrong)), noon)
	if len(got.Distrusted("other")) != len(plan.Rungs()) {
		t.Error("a miss is lost and something is believed")
	}
}

// A damaged document is no reason to believe anything, until the next audit begins anew.
func TestDamaged(t *testing.T) {
	s, dir := open(t)
	add(t, s, audit(unit("a", plan.RungSchema, plan.AuditWrong)), noon)
	name := filepath.Join(dir, "audits", "all.json")
	for _, damage := range []string{"{", `{"version":"1","misses":7}`,
		`{"version":"1","days":{"x":{"schema":{"right":-1}}}}`, `{"version":"9"}`} {
		if err := os.WriteFile(name, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Snapshot(t.Context()); err == nil {
			t.Errorf("%s: no error", damage)
		}
	}
	for _, rung := range plan.Rungs() {
		if audits.Unknown().Distrusted("a")[rung] == "" {
			t.Errorf("%s is believed", rung)
		}
	}
}
