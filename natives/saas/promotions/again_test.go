package promotions

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration/services"
)

// TestFailedChecksRunOnceMore holds that checks which failed by accident hold nothing for ever.
func TestFailedChecksRunOnceMore(t *testing.T) {
	s := newScene(t, 1, 1)
	s.code = []string{sha(2), sha(1)}
	s.deployAll(sha(2))
	s.mustLoop("commit", "open")
	s.forge.requests[0].Checks = services.ChecksFailed
	s.mustLoop("note")
	if hold := s.standing["saas-0/t0 c-1/shop-production"].Hold; !strings.Contains(hold, ", until ") {
		t.Errorf("held by %q, want a time", hold)
	}
	s.now = s.now.Add(defaultRetryAfter - time.Hour)
	s.mustLoop()
	s.now = s.now.Add(2 * time.Hour)
	s.mustLoop("commit")
	s.forge.requests[0].Checks = services.ChecksFailed
	s.mustLoop("note") // a day once more
	s.own = ", retry_after: 0s"
	s.now = s.now.Add(100 * 24 * time.Hour)
	s.mustLoop()
	s.own = ""
	s.mustLoop("commit")
	s.forge.requests[0].Checks = services.ChecksPassed
	s.forge.merge(s.forge.requests[0])
	if got := s.refs("main", 0); !slices.Equal(got, []string{sha(2)}) {
		t.Errorf("got %q", got)
	}
}
