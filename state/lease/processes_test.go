package lease

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/fakes3"
	"github.com/app-sre/prcheck/state"
)

// shared is the limit that the processes of the test share. Its TTL is long enough for a
// busy machine.
var shared = Limit{Key: "live target", Max: 3, TTL: 2 * time.Second}

// TestMain runs the tests, or is a process of TestProcesses: it takes the lease again and
// again, and has a connection to the test while it holds the lease.
func TestMain(m *testing.M) {
	place, address := os.Getenv("LEASE_TEST_STATE"), os.Getenv("LEASE_TEST_ADDRESS")
	if place == "" {
		os.Exit(m.Run())
	}
	s, err := state.At(context.Background(), place, state.Writing)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for {
				err := Hold(context.Background(), s, []Limit{shared}, func(ctx context.Context) error {
					return visit(ctx, address)
				})
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
				}
			}
		})
	}
	all.Wait()
}

func visit(ctx context.Context, address string) error {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-time.After(rand.N(300 * time.Millisecond)):
	}
	_, _ = io.WriteString(c, "done\n")
	_, err = bufio.NewReader(c).ReadString('\n') // the end was noted
	_ = c.Close()
	return err
}

// A target counts its connections. The connection of a process that dies ends at once.
type target struct {
	mu                  sync.Mutex
	now, most, finished int
	last                time.Time
	longest             time.Duration // that nobody came
}

func (g *target) serve(l net.Listener, all *sync.WaitGroup) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		g.mu.Lock()
		g.now++
		g.most = max(g.most, g.now)
		if !g.last.IsZero() {
			g.longest = max(g.longest, time.Since(g.last))
		}
		g.last = time.Now()
		g.mu.Unlock()
		all.Go(func() {
			line, _ := bufio.NewReader(c).ReadString('\n')
			g.mu.Lock()
			g.now--
			if line != "" {
				g.finished++
			}
			g.mu.Unlock()
			_, _ = io.WriteString(c, "bye\n")
			_ = c.Close()
		})
	}
}

// Processes are killed at any moment. At no time do more work than the limit allows, and a
// dead process blocks its place for little more than one TTL.
func TestProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		killing(t, t.TempDir(), nil)
	})
	t.Run("bucket", func(t *testing.T) {
		t.Parallel()
		fake := fakes3.New()
		h := httptest.NewServer(fake)
		defer h.Close()
		fake.URL = h.URL
		killing(t, "s3://memory/leases-test", fake.Environ())
	})
	t.Run("real", func(t *testing.T) {
		if os.Getenv("PRCHECK_STATE") == "" {
			t.Skip("PRCHECK_STATE names no bucket, such as s3://prcheck/test, to try this with")
		}
		place := os.Getenv("PRCHECK_STATE") + "/" + newID()
		killing(t, place, nil)
		s, err := state.At(t.Context(), place, state.Writing)
		if err != nil {
			t.Fatal(err)
		}
		list, err := s.List(t.Context(), "")
		for _, e := range list {
			err = errors.Join(err, s.Remove(t.Context(), e.Key))
		}
		if err != nil {
			t.Error(err)
		}
	})
}

func killing(t *testing.T, place string, env map[string]string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var g target
	var all sync.WaitGroup
	all.Go(func() { g.serve(l, &all) })

	env = maps.Clone(env)
	if env == nil {
		env = map[string]string{}
	}
	env["LEASE_TEST_STATE"], env["LEASE_TEST_ADDRESS"] = place, l.Addr().String()
	var said strings.Builder
	var mu sync.Mutex
	start := func() *exec.Cmd {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = os.Environ()
		for name, value := range env {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		cmd.Stderr = writer(func(p []byte) { mu.Lock(); said.Write(p); mu.Unlock() })
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	processes := []*exec.Cmd{start(), start(), start()}
	killed := 0
	for end := time.Now().Add(4 * time.Second); time.Now().Before(end); killed++ {
		time.Sleep(200*time.Millisecond + rand.N(800*time.Millisecond))
		i := rand.N(len(processes))
		_ = processes[i].Process.Kill()
		_ = processes[i].Wait()
		processes[i] = start()
	}
	for _, p := range processes {
		_ = p.Process.Kill()
		_ = p.Wait()
	}
	_ = l.Close()
	all.Wait()
	t.Logf("%d processes were killed, %d visits ended, at most %d at once, nobody came for %v", killed, g.finished, g.most,
		g.longest)
	if g.most > shared.Max || g.finished < 3 || g.longest > shared.TTL+3*time.Second {
		t.Errorf("at most %d at once, want %d; %d ended; nobody came for %v, want about %v at most\n%s", g.most, shared.Max,
			g.finished, g.longest, shared.TTL, said.String())
	}
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }
