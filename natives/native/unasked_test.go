package native_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/settings"
)

// A change that alters a target cannot hide its deletions from the gate by it.
func TestDeletionsAtNewTarget(t *testing.T) {
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}, broken: "a"}
	base := `{"a": {"a-1": "x", "a-2": "x", "a-3": "x", "a-4": "x", "a-5": "x"}}`
	s.address = map[string]string{"!": "https://other"}
	head := `{"a": {"a-1": "x", "a-2": "!"}}` // the target of a part with a deletion is another one
	said, err := s.run(t, base, head, true, nil)
	if err != nil || !strings.Contains(said, "note NEW_TARGET a") || !strings.Contains(said, "error TOO_MANY_DELETES") {
		t.Errorf("got %q, %v", said, err)
	}
}

// Whoever adopts does nothing else, whatever the data approve.
func TestAdoptionDoesNothingElse(t *testing.T) {
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
	var approvals []string
	data := map[string]string{}
	for _, shard := range []string{"a", "b"} {
		for i := range 4 {
			k := fmt.Sprintf("%s-%d", shard, i)
			s.put(reconcile.Key(k), bookOf(shard))
			approvals = append(approvals, fmt.Sprintf("%q: %q", k, "2026-12-31"))
		}
		data[shard] = fmt.Sprintf(`{"%s-new": "New", "%s-there": "Atlas"}`, shard, shard)
		s.put(reconcile.Key(shard+"-there"), reconcile.Thing{Body: "Old"})
	}
	zero := 0
	head := fmt.Sprintf(`{"approvals": {%s}, "a": %s, "b": %s}`, strings.Join(approvals, ","), data["a"], data["b"])
	for _, dry := range []bool{true, false} {
		said, err := s.run(t, "", head, dry, func(e *integration.Environment) {
			e.Approve.Adopt = true
			e.Settings.Deletes = settings.Deletes{Max: &zero, Percent: &zero, Floor: &zero}
		})
		if want := "change a-there\nchange b-there"; dry && said != want || err != nil {
			t.Errorf("got %q, %v, want %q", said, err, want)
		}
	}
	if len(s.things) != 10 || s.things["a-there"].Mark.Caller != "a" {
		t.Errorf("got %d things, %v", len(s.things), s.things["a-there"])
	}
}
