package state_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/doubles/fakes3"
	"github.com/app-sre/prcheck/state"
)

// calls returns a function for each method of a store, by name.
func calls(s state.Store) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"read":    func(ctx context.Context) error { _, err := s.Read(ctx, "k"); return err },
		"list":    func(ctx context.Context) error { _, err := s.List(ctx, ""); return err },
		"write":   func(ctx context.Context) error { return s.Write(ctx, "k", []byte("2")) },
		"remove":  func(ctx context.Context) error { return s.Remove(ctx, "k") },
		"discard": func(ctx context.Context) error { return s.Discard(ctx, state.Entry{Key: "k"}) },
		"update": func(ctx context.Context) error {
			return s.Update(ctx, "k", func([]byte) ([]byte, error) { return []byte("2"), nil })
		},
		"collect": func(ctx context.Context) error { return state.Collect(ctx, s, state.Limits{}, time.Now()) },
	}
}

// A call does nothing if its context has ended.
func TestCanceledBefore(t *testing.T) {
	everywhere(t, func(t *testing.T, open func() state.Store) {
		s := open()
		if err := s.Write(t.Context(), "k", []byte("1")); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		texts := map[string]string{
			"read": `reading "k" in`, "list": `listing "all" in`, "write": `writing "k" in`, "remove": `removing "k" in`,
			"discard": `removing "k" in`,
			"update":  `changing "k" in`, "collect": `removing old documents: changing "collection/last.json" in`,
		}
		for name, call := range calls(s) {
			if err := call(ctx); !errors.Is(err, context.Canceled) || err.Error() != texts[name]+" the state: context canceled" {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if raw, err := s.Read(t.Context(), "k"); err != nil || string(raw) != "1" {
			t.Errorf("afterwards got %q, %v", raw, err)
		}
	})
}

// An interrupt ends a call to a bucket that does not answer. The bucket does not count as
// unreachable because of that.
func TestS3Canceled(t *testing.T) {
	s, fake := openS3(t)
	for name, call := range calls(s) {
		ctx, cancel := context.WithCancel(t.Context())
		fake.Fail(func(*http.Request) fakes3.Fault {
			cancel()
			return fakes3.Fault{Delay: time.Minute}
		})
		began := time.Now()
		if err := call(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, state.ErrUnreachable) {
			t.Errorf("%s: got %v", name, err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
		fake.Fail(nil)
		if raw, err := s.Read(t.Context(), "k"); err != nil || string(raw) != "old" {
			t.Errorf("%s: afterwards got %q, %v", name, raw, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	fake.Fail(func(*http.Request) fakes3.Fault {
		cancel()
		return fakes3.Fault{Delay: time.Minute}
	})
	if _, err := state.At(ctx, "s3://memory/p", state.Writing); !errors.Is(err, context.Canceled) ||
		errors.Is(err, state.ErrUnreachable) {
		t.Errorf("opening: got %v", err)
	}
}

// An interrupt ends an update that others always outrun.
func TestS3CanceledUpdate(t *testing.T) {
	s, fake := openS3(t)
	ctx, cancel := context.WithCancel(t.Context())
	rounds := 0
	err := s.Update(ctx, "k", func([]byte) ([]byte, error) {
		if rounds++; rounds == 3 {
			cancel()
		}
		fake.Put("p/k", time.Now().String())
		return []byte("mine"), nil
	})
	if !errors.Is(err, context.Canceled) || rounds != 3 {
		t.Errorf("got %v after %d rounds", err, rounds)
	}
}

// An interrupt ends the waiting for a lock.
func TestLockCanceled(t *testing.T) {
	s, folder := open(t)
	if err := s.Write(t.Context(), "k", []byte("1")); err != nil {
		t.Fatal(err)
	}
	s.Patience(time.Minute)
	holding, release := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	go func() {
		done <- s.Update(context.Background(), "k", func([]byte) ([]byte, error) {
			close(holding)
			<-release
			return []byte("2"), nil
		})
	}()
	<-holding
	other, err := state.Open(folder) // as another process would
	if err != nil {
		t.Fatal(err)
	}
	other.Patience(time.Minute)
	for name, waiting := range map[string]*state.Dir{"same process": s, "another process": other} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := waiting.Write(ctx, "k", []byte("3")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: got %v", name, err)
		}
		cancel()
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	raw, err := os.ReadFile(filepath.Join(folder, "k"))
	if err != nil || string(raw) != "2" {
		t.Errorf("got %q, %v", raw, err)
	}
}

func TestWithGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		graced, cancel := state.WithGrace(ctx)
		time.Sleep(time.Hour)
		if err := graced.Err(); err != nil {
			t.Errorf("before the interrupt it ended with %v", err)
		}
		interrupt()
		time.Sleep(state.Grace - time.Second)
		if err := graced.Err(); err != nil {
			t.Errorf("it ended too early with %v", err)
		}
		time.Sleep(2 * time.Second)
		if err := context.Cause(graced); !errors.Is(err, state.ErrGraceOver) {
			t.Errorf("got %v, want %v", err, state.ErrGraceOver)
		}
		cancel()

		late, cancel := state.WithGrace(ctx) // which was canceled before
		began := time.Now()
		<-late.Done()
		if took := time.Since(began); took != state.Grace {
			t.Errorf("it ended after %v, want %v", took, state.Grace)
		}
		cancel()

		_, cancel = state.WithGrace(ctx)
		cancel() // leaves nothing behind that waits
	})
}

// The error of a call says that the grace period is over.
func TestGraceOver(t *testing.T) {
	s, _ := open(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(state.ErrGraceOver)
	if err := s.Write(ctx, "k", nil); !errors.Is(err, state.ErrGraceOver) {
		t.Errorf("got %v", err)
	}
}
