package trace_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/trace"
)

func store(t *testing.T) (trace.Store, string) {
	t.Helper()
	folder := t.TempDir()
	d, err := state.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	return trace.NewStore(d), folder
}

func recorded(of trace.TaskKey, query string, at time.Time) *trace.Trace {
	r := trace.NewRecorder("b", "h")
	ask(r, "/graphql", "h", query, "answer to "+query)
	return r.Trace(of, at)
}

// documents returns the paths of all documents in a folder of the state.
func documents(t *testing.T, folder, kind string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(folder, kind, "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// A trace is loaded for its own subject only, and only the newest traces of a subject are
// kept.
func TestStore(t *testing.T) {
	s, folder := store(t)
	for i, query := range []string{"{a}", "{b}", "{c}", "{d}", "{e}", "{e}"} {
		if err := s.Save(t.Context(), recorded(subject, query, noon.Add(time.Duration(i)*time.Hour))); err != nil {
			t.Fatal(err)
		}
	}
	for _, of := range []trace.TaskKey{
		{Integration: "users", Command: "sha256:c0"},
		{Integration: "users", Command: "sha256:c1", Shard: "blue"},
		{Integration: "../../users", Command: "sha256:c0", Shard: "blue"},
	} {
		if traces, ignored := s.Load(t.Context(), of); len(traces)+len(ignored) != 0 {
			t.Errorf("%+v: got %v, %v", of, traces, ignored)
		}
		if err := s.Save(t.Context(), recorded(of, "{x}", noon)); err != nil {
			t.Fatal(err)
		}
	}
	traces, ignored := s.Load(t.Context(), subject)
	var got []string
	for _, tr := range traces {
		got = append(got, tr.Requests[0].Query)
	}
	if strings.Join(got, " ") != "{e} {d} {c} {b}" || len(ignored) != 0 {
		t.Errorf("got %q, %q", got, ignored)
	}
	if !traces[0].Recorded.Equal(noon.Add(5*time.Hour)) || traces[0].TaskKey != subject {
		t.Errorf("got %+v", traces[0])
	}
	if all, _ := s.All(t.Context(), "users"); len(all) != 6 {
		t.Errorf("got %d traces of all commands and shards, want 6", len(all))
	}
	if n := len(documents(t, folder, "traces")); n != 7 {
		t.Errorf("got %d files, want 7", n)
	}
}

// A trace that an earlier program wrote in this version is used.
func TestEarlier(t *testing.T) {
	s, folder := store(t)
	if err := s.Save(t.Context(), recorded(subject, "{a}", noon)); err != nil {
		t.Fatal(err)
	}
	earlier, err := os.ReadFile("testdata/v2.json")
	if err == nil {
		err = os.WriteFile(documents(t, folder, "traces")[0], earlier, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if traces, ignored := s.Load(t.Context(), subject); len(traces) != 1 || len(ignored) != 0 {
		t.Errorf("got %v, %q", traces, ignored)
	}
}

// Traces count in a state in which documents must be signed.
func TestSigned(t *testing.T) {
	d, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := trace.NewStore(state.Trusted(d, state.Trust{Keys: []ed25519.PublicKey{public}, Key: key}))
	if err := s.Save(t.Context(), recorded(subject, "{a}", noon)); err != nil {
		t.Fatal(err)
	}
	if traces, ignored := s.Load(t.Context(), subject); len(traces) != 1 || len(ignored) != 0 {
		t.Errorf("got %v, %q", traces, ignored)
	}
}

// A damaged trace is not used. It is reported once and a copy is kept. A trace of another
// version stays where it is.
func TestDamaged(t *testing.T) {
	tests := []struct {
		name   string
		damage func(string) string
		want   string
	}{
		{"cut short", func(s string) string { return s[:len(s)/2] }, "cut short or damaged"},
		{"empty", func(string) string { return "" }, "cut short or damaged"},
		{"of a later version", func(s string) string { return strings.Replace(s, trace.Version, "prcheck-trace/v3", 1) },
			`its version is "prcheck-trace/v3"`},
		{"of no version", func(s string) string { return "{}" }, "cut short or damaged"},
		{"another answer", func(s string) string { return strings.Replace(s, `"answer":"`, `"answer":"0`, 1) },
			"it was edited or damaged"},
		{"another question", func(s string) string {
			return strings.Replace(s, "{a}", "{b}", 1)
		}, "it was edited or damaged"},
		{"another command", func(s string) string {
			return strings.Replace(s, "sha256:c0", "sha256:c1", 1)
		}, "it was edited or damaged"},
		{"wrong types", func(s string) string { return strings.Replace(s, `"requests":[`, `"requests":[7,`, 1) },
			"cut short or damaged"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, folder := store(t)
			if err := s.Save(t.Context(), recorded(subject, "{a}", noon)); err != nil {
				t.Fatal(err)
			}
			name := documents(t, folder, "traces")[0]
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(tt.damage(string(raw))), 0o600); err != nil {
				t.Fatal(err)
			}
			traces, ignored := s.Load(t.Context(), subject)
			if len(traces) != 0 || len(ignored) != 1 || !strings.Contains(ignored[0], tt.want) ||
				!strings.HasSuffix(ignored[0], " ("+filepath.Base(name)+")") {
				t.Errorf("got %v, %q, want %q", traces, ignored, tt.want)
			}
			aside, err := filepath.Glob(filepath.Join(folder, "corrupt", "*.json-*"))
			if err != nil {
				t.Fatal(err)
			}
			_, again := s.Load(t.Context(), subject)
			want := 1
			if tt.name == "of a later version" {
				want = 0
			}
			if len(aside) != want || len(again) != 1-want || len(documents(t, folder, "traces")) != 1-want {
				t.Errorf("set aside %q, then ignored %q, want %d and %d", aside, again, want, 1-want)
			}
		})
	}
}

// A trace counts only if each request has a known side and a whole answer.
func TestWhole(t *testing.T) {
	answer := trace.Answer(200, nil)
	for _, tt := range []struct {
		side   trace.Side
		answer string
		whole  bool
	}{
		{trace.Base, answer, true}, {trace.Head, answer, true}, {trace.Either, answer, true},
		{"", answer, false}, {"other", answer, false}, {trace.Head, answer[1:], false}, {trace.Either, "", false},
	} {
		s, _ := store(t)
		one := recorded(subject, "{a}", noon)
		one.Requests[0].Side, one.Requests[0].Answer = tt.side, tt.answer
		if err := s.Save(t.Context(), one.WithFiles("")); err != nil { // with a digest that is right
			t.Fatal(err)
		}
		traces, ignored := s.Load(t.Context(), subject)
		if tt.whole && len(traces) != 1 ||
			!tt.whole && (len(ignored) != 1 || !strings.Contains(ignored[0], "a request in it is not whole")) {
			t.Errorf("%q %q: got %d traces, ignored %q", tt.side, tt.answer, len(traces), ignored)
		}
	}
}

// A trace of another task that was written under a wrong name is not used.
func TestForeign(t *testing.T) {
	s, folder := store(t)
	other := trace.TaskKey{Integration: "other", Command: "sha256:c0", Shard: "blue"}
	for _, of := range []trace.TaskKey{subject, other} {
		if err := s.Save(t.Context(), recorded(of, "{a}", noon)); err != nil {
			t.Fatal(err)
		}
	}
	list := documents(t, folder, "traces")
	raw, err := os.ReadFile(list[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(list[1], raw, 0o600); err != nil {
		t.Fatal(err)
	}
	one, a := s.Load(t.Context(), subject)
	two, b := s.Load(t.Context(), other)
	if len(one)+len(two) != 1 || len(a)+len(b) != 1 || !strings.Contains(a0(a, b), "it belongs to another task") {
		t.Errorf("got %d and %d traces, %q, %q", len(one), len(two), a, b)
	}
}

func a0(lists ...[]string) string {
	for _, l := range lists {
		for _, s := range l {
			return s
		}
	}
	return ""
}

// If several processes saved too many traces, the next save removes all that are too many.
func TestSaveRemovesAll(t *testing.T) {
	s, folder := store(t)
	for i := range 4 {
		query := "{" + strings.Repeat("a", i+1) + "}"
		if err := s.Save(t.Context(), recorded(subject, query, noon)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range documents(t, folder, "traces") {
		if err := os.Link(name, strings.TrimSuffix(name, ".json")+"2.json"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Save(t.Context(), recorded(subject, "{b}", noon)); err != nil {
		t.Fatal(err)
	}
	if n := len(documents(t, folder, "traces")); n != 4 {
		t.Errorf("got %d files, want 4", n)
	}
}

// Several writers of one subject leave only whole traces.
func TestConcurrentSaves(t *testing.T) {
	s, _ := store(t)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for range 10 {
				if err := s.Save(t.Context(), recorded(subject, "{"+strings.Repeat("a", i+1)+"}", noon)); err != nil {
					t.Error(err)
				}
				if _, ignored := s.Load(t.Context(), subject); len(ignored) != 0 {
					t.Error(ignored)
				}
			}
		})
	}
	wait.Wait()
	if traces, ignored := s.Load(t.Context(), subject); len(traces) == 0 || len(traces) > 4 || len(ignored) != 0 {
		t.Errorf("got %d traces, %q", len(traces), ignored)
	}
}

// A trace of an earlier version, for which base and head had one name, proves nothing.
func TestTracesOfOneNameAreNotLoaded(t *testing.T) {
	dir, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	store, of := trace.NewStore(dir), trace.TaskKey{Integration: "it", Command: "c"}
	for name, head := range map[string]string{"one name": "a", "two names": "b"} {
		if err := store.Save(t.Context(), trace.NewRecorder("a", head).Trace(of, time.Unix(0, 0))); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	traces, ignored := store.Load(t.Context(), of)
	if len(traces) != 1 || traces[0].Head != "b" || len(ignored) != 1 ||
		!strings.Contains(ignored[0], "base and head were one bundle") {
		t.Errorf("got %v, ignored %q", traces, ignored)
	}
}
