package change_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/internal/cli"
)

// What a server does not have is wrong input, what it cannot say is trouble; in
// both cases there is no plan. The authorization comes from the environment and
// is not shown.
func TestLiveTrouble(t *testing.T) {
	sha := strings.Repeat("ab", 32)
	for _, c := range []struct {
		name   string
		status int
		body   string
		code   int
		want   string
	}{
		{"gone", http.StatusNotFound, "Bundle " + sha + " not found", cli.ExitUsage, "does not have bundle " + sha},
		{"another kind of server", http.StatusNotFound, "nothing here", cli.ExitTrouble, `status 404: "nothing here"`},
		{"locked", http.StatusForbidden, "not with hunter2-hunter2", cli.ExitTrouble, `"not with ***"; put what it wants`},
		{"garbage", http.StatusOK, "<html>", cli.ExitTrouble, "is not what a qontract-server gives"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sent atomic.Value // both sides are asked at once
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/git-commit-info/") {
					sent.Store(r.Header.Get("Authorization"))
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			defer server.Close()
			ref := server.URL + "/graphqlsha/" + sha
			var stdout, stderr strings.Builder
			env := cli.Env{Stdout: &stdout, Stderr: &stderr, Getenv: func(name string) string {
				return map[string]string{"PRCHECK_AUTHORIZATION": "Bearer hunter2-hunter2"}[name]
			}}
			code := cli.Run(t.Context(), "test", env, func(ctx context.Context, env cli.Env) error {
				_, err := change.Inputs{Base: ref, Head: ref}.Open(ctx, env)
				return err
			})
			if code != c.code || !strings.Contains(stderr.String(), c.want) || strings.Contains(stderr.String(), "hunter2") ||
				stdout.Len() > 0 {
				t.Errorf("got %d, %q; want %d, %q", code, stderr.String(), c.code, c.want)
			}
			if sent.Load() != "Bearer hunter2-hunter2" {
				t.Errorf("got authorization %q", sent.Load())
			}
		})
	}
}
