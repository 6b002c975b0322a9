package archive_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/fakes3"
	"github.com/app-sre/prcheck/internal/objects"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/archive"
	"github.com/app-sre/prcheck/wrapper"
)

// Logs are stored beside results in a bucket, also if the run was interrupted. A log
// that cannot be stored is a warning, and the results are stored all the same.
func TestStoreResults(t *testing.T) {
	const key = "run/results-3.json"
	name := wrapper.LogName("a")
	for what, c := range map[string]struct {
		interrupted, refused bool // the run, and by the bucket
		want                 []string
		warning              string
	}{
		"kept":        {false, false, []string{"run/logs/" + name, "run/results-3.json"}, ""},
		"interrupted": {true, false, []string{"run/logs/" + name, "run/results-3.json"}, ""},
		"refused": {false, true, []string{"run/results-3.json"},
			`1 of 1 logs could not be stored in the bucket; the first is of task "a": access is denied (Forbidden)`},
	} {
		s := fakes3.Start(t)
		s.Fail(func(r *http.Request) (f fakes3.Fault) {
			if c.refused && strings.Contains(r.URL.Path, "/logs/") {
				f.Status = http.StatusForbidden
			}
			return f
		})
		dir := filepath.Join(t.TempDir(), "logs")
		if err := os.Mkdir(dir, 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("said"), 0o600); err != nil {
			t.Fatal(err)
		}
		r := &plan.Results{Version: plan.Version, Plan: "sha256:" + strings.Repeat("0", 64),
			Results: []plan.Result{{Task: "a", Status: plan.Passed, Attempts: 1, Log: "logs/" + name}}}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if c.interrupted {
			cancel()
		}
		bucket, err := objects.Open(t.Context(), fakes3.Bucket)
		if err != nil {
			t.Fatal(err)
		}
		if err := archive.StoreResults(ctx, bucket, key, dir, r); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got := s.Keys(); !slices.Equal(got, c.want) {
			t.Errorf("%s: the bucket has %q, want %q", what, got, c.want)
		}
		raw, _, err := bucket.Get(t.Context(), key, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		got, err := plan.ReadResults(bytes.NewReader(raw))
		if err != nil || strings.Join(got.Warnings, "\n") != c.warning || len(got.Results) != 1 {
			t.Errorf("%s: got %+v, %v, want the warning %q", what, got, err, c.warning)
		}
	}
}
