package deploy

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/saas/ledger"
)

// books returns the ledgers of the bucket.
func (s *scene) books(t *testing.T) []*ledger.Book {
	t.Helper()
	var out []*ledger.Book
	for key, raw := range s.bucket.objects {
		if !strings.HasPrefix(key, ledger.Folder) {
			continue
		}
		b, err := ledger.Parse([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

// The end of each run is in the ledger of its target, also of one that publishes nothing, and of a failed one.
func TestRunsAreNoted(t *testing.T) {
	s := newScene(t)
	s.own = "records: s3://records\nhosts: [github.com]\nwait: 2s\nverify: {production: {for: 30m, measure: up}}"
	s.forge.heads[shopURL]["main"] = old
	s.mustRun(t, "shop/stage")
	s.mustRun(t, production)
	books := s.books(t)
	if len(books) != 2 {
		t.Fatalf("got %d ledgers", len(books))
	}
	for _, b := range books {
		is := b.Runs[0]
		if len(b.Runs) != 1 || is.Commit != old || is.Result != ledger.Good || is.Config == "" {
			t.Errorf("%s: got %+v", b.Target, b.Runs)
		}
		verified := strings.Contains(b.Target, "production")
		if (is.Check != nil) != verified || b.Ran(old) == verified {
			t.Errorf("%s: got the verification %+v", b.Target, is.Check)
		}
	}
	s.push("/openshift/template.yml", "")
	if _, err := s.run(t, "shop/stage"); !s.fails(err) {
		t.Fatal("a run without a template succeeded")
	}
	for _, b := range s.books(t) {
		if last := b.Runs[len(b.Runs)-1]; strings.Contains(b.Target, "stage") &&
			(len(b.Runs) != 2 || last.Commit == old || last.Result != ledger.Failed) {
			t.Errorf("%s: got %+v", b.Target, b.Runs)
		}
	}
}
