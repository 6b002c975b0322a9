package manager

import (
	"slices"
	"strings"
	"testing"
)

// The first run makes everything, the second one nothing, and a change of the data changes what
// it is about.
func TestRun(t *testing.T) {
	s := newScene(t)
	want := []string{"service/qontract-reconcile", "deployment/integrations-manager",
		"deployment/terraform-resources-production", "deployment/terraform-resources-staging"}
	if err := s.dryRun(t, nil); s.fails(err) {
		t.Fatalf("%v %q", err, s.said)
	}
	planned := slices.Clone(s.said)
	s.mustRun(t)
	if got := s.objects(); !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	if n := len(planned); n < len(want) {
		t.Errorf("the dry run said %q", planned)
	}
	if w := s.mustRun(t); len(w) > 0 {
		t.Errorf("the second run wrote %q", w)
	}
	if n := len(s.cluster.Requests()); n != 4 {
		t.Errorf("the second run sent %d requests: %v", n, s.cluster.Requests())
	}
	base := s.clone()
	s.addAccounts("lake")
	if err := s.dryRun(t,
		base); s.fails(err) || !s.says("create Deployment/qontract-reconcile-terraform-resources-lake") || len(s.said) != 2 {
		t.Errorf("%v %q", err, s.said)
	}
	if w := s.mustRun(t); !slices.Equal(w, []string{"patch qontract-reconcile-terraform-resources-lake"}) {
		t.Errorf("a new account wrote %q", w)
	}
	delete(s.Data, "/accounts/lake.yml")
	if w := s.mustRun(t); !slices.Equal(w, []string{"delete qontract-reconcile-terraform-resources-lake"}) {
		t.Errorf("a removed account wrote %q", w)
	}
	s.at(terraformFile, "managed", 0, "spec", "resources", "limits")["memory"] = "999Mi"
	if err := s.dryRun(t, base); s.fails(err) || !strings.Contains(s.log.String(), `/resources/limits/memory: "`) {
		t.Errorf("%v %q\n%s", err, s.said, s.log.String())
	}
	if w := s.mustRun(t); len(w) != 2 {
		t.Errorf("other resources wrote %q", w)
	}
	if w := s.mustRun(t); len(w) > 0 {
		t.Errorf("the last run wrote %q", w)
	}
}
