package pipelines

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/ledger"
	"github.com/app-sre/prcheck/natives/saas/promotion"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// A writer is a bucket that can be written.
type writer struct{ *testBucket }

func (w writer) Put(_ context.Context, key string, raw []byte, version string) (string, error) {
	if is, ok := w.objects[key]; ok != (version != "") {
		return "", fmt.Errorf("%w: %s", integration.ErrChanged, is.raw)
	}
	w.objects[key] = testObject{raw: string(raw)}
	return "1", nil
}

func (writer) Remove(context.Context, string, string) error { return integration.ErrChanged }

// noting runs one iteration that may write to the bucket.
func (s *testScene) noting() {
	s.t.Helper()
	s.begin()
	s.now = s.now.Add(time.Minute)
	_ = New(s.services()).Run(s.t.Context(), s.env(), integration.Actors{State: s.state,
		Cluster: func(context.Context, integration.ClusterRef) (integration.ClusterWriter, error) {
			return testCluster{testScene: s}, nil
		},
		Bucket: func(context.Context, string) (integration.BucketWriter, error) { return writer{s.bucket}, nil },
		Did:    func(integration.Deed) {},
	})
}

// The end of a run that another program made is noted by the loop that started it, once. What the deployment noted
// itself is not noted again.
func TestRunsOfOthersAreNoted(t *testing.T) {
	s := newTestScene(t, saastest.New())
	second := saastest.Shas(2)[1]
	ran := func(env string) string {
		m, err := saas.Read(t.Context(), s.query, saas.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		b, _, err := ledger.Read(t.Context(), s.bucket, m.Called(env)[0].UID(), env)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, r := range b.Runs {
			out = append(out, fmt.Sprintf("%.4s %s", r.Commit, r.Result))
		}
		return strings.Join(out, ", ")
	}
	s.noting()
	s.end("True")
	s.noting()
	s.noting()
	first := fmt.Sprintf("%.4s ok", saastest.Shas(1)[0])
	if got := ran("stage"); got != first {
		t.Errorf("stage ran %q, want %q\n%s", got, first, s.log.String())
	}
	s.heads["https://github.com/acme/shop main"] = second
	s.noting()
	s.end("False")
	s.noting()
	s.noting()
	if got, want := ran("stage"), first+fmt.Sprintf(", %.4s failed", second); got != want {
		t.Errorf("stage ran %q, want %q", got, want)
	}
	s.heads["https://github.com/acme/shop main"] = saastest.Shas(3)[2]
	s.noting()
	m, err := saas.Read(t.Context(), s.query, saas.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	own := promotion.RunOf(saas.Settings{}, m.Called("stage")[0], saastest.Shas(3)[2], true, s.now.Add(time.Second))
	if err := promotion.Book(t.Context(), writer{s.bucket}, m.Called("stage")[0], own); err != nil {
		t.Fatal(err)
	}
	was := ran("stage")
	s.end("True")
	s.noting()
	if got := ran("stage"); got != was {
		t.Errorf("stage ran %q, and then %q", was, got)
	}
}
