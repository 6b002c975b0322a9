package native_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// A part whose deletions are refused is written all the same, and the log of the run names each of
// them with what to do.
func TestRefusedDeletions(t *testing.T) {
	for _, isDry := range []bool{true, false} {
		s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
		for i := range 8 {
			s.put(reconcile.Key(fmt.Sprintf("north-%d", i)), bookOf("north"))
		}
		var log bytes.Buffer
		said, err := s.run(t, "", `{"north": {"new": "New"}}`, isDry, func(e *integration.Environment) { e.Log = &log })
		if err != nil ||
			!strings.Contains(said, "error TOO_MANY_DELETES north-0, north-1, north-2, north-3, north-4, and 3 more: ") {
			t.Errorf("got %q, %v", said, err)
		}
		for i := range 8 {
			if want := fmt.Sprintf("\nblocked north-%d: more deletions (8) than ", i); strings.Count(log.String(), want) != 1 ||
				!strings.Contains(log.String(), ": confirm them with --confirm-deletions sha256:") {
				t.Errorf("dry %v: the log has no %q:\n%s", isDry, want, &log)
			}
		}
		if _, isThere := s.things["new"]; isThere == isDry || len(s.things) < 8 {
			t.Errorf("dry %v: there is %v", isDry, s.things)
		}
	}
}
