//go:build unix

package promotions

import (
	"context"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// quietCode is repositories whose branches are where production is, one commit for each
// repository.
type quietCode struct{ heads, logs atomic.Int64 }

func (q *quietCode) Heads(_ context.Context, of services.Repository, _ []string) (map[string]string, error) {
	q.heads.Add(1)
	n := 0
	for _, c := range strings.TrimPrefix(of.URL, "https://github.com/acme/app-") {
		n = 10*n + int(c-'0')
	}
	return map[string]string{"main": saastest.Shas(n + 1)[n]}, nil
}

func (q *quietCode) Log(context.Context, services.Repository, string, int) ([]string, error) {
	q.logs.Add(1)
	return nil, services.ErrNotThere
}

func (*quietCode) Files(context.Context, services.Repository, string, string, bool) (map[string][]byte, error) {
	return nil, services.ErrNotThere
}

// processorTime returns the time that this process used.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// In a quiet world with 3,000 targets each repository is asked once, the forge three times, and
// nothing is written.
func TestQuietWorld(t *testing.T) {
	s := newScene(t, 1, 1)
	w := saastest.Large(300, 3000)
	query := w.Query(t)
	code := &quietCode{}
	loop := func() time.Duration {
		env := s.env()
		env.Query = query
		before := processorTime(t)
		of := New(Services{Repositories: code, Forge: func(Project) (services.ForgeWriter, error) { return s.forge, nil }})
		if err := of.Run(t.Context(), env, integration.Actors{State: s.state, Bucket: s.writer}); err != nil {
			t.Fatalf("%v\n%s", err, s.log.String())
		}
		return processorTime(t) - before
	}
	loop()
	entries, err := s.state.List(t.Context(), "")
	if err != nil || len(entries) != 1 {
		t.Fatalf("got %v, %v", entries, err)
	}
	code.heads.Store(0)
	took := loop()
	again, err := s.state.List(t.Context(), "")
	if err != nil || len(again) != 1 || !again[0].Written.Equal(entries[0].Written) {
		t.Errorf("the quiet loop wrote: %v, %v", again, err)
	}
	if n := code.heads.Load(); n != 300 || code.logs.Load() != 0 || len(s.forge.writes) != 0 {
		t.Errorf("%d requests for branches, %d for commits, writes %q", n, code.logs.Load(), s.forge.writes)
	}
	t.Logf("%d targets took %s of processor time", len(s.standing), took.Round(time.Millisecond))
}
