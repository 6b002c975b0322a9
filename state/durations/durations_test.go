package durations

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/state"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func open(t *testing.T) (Store, string) {
	t.Helper()
	folder := t.TempDir()
	dir, err := state.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	return NewStore(dir), folder
}

func runs(shard string, passed bool, seconds ...float64) []Run {
	var out []Run
	for _, s := range seconds {
		out = append(out, Run{Integration: "tf", Shard: shard, Seconds: s, Passed: passed, At: noon})
	}
	return out
}

func TestEstimate(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(i + 1)
	}
	for _, c := range []struct {
		name  string
		known []Run
		shard string
		want  Estimate
	}{
		{"nothing known", nil, "", Estimate{}},
		{"one run", runs("", true, 4), "", Estimate{P50: 4, P90: 4, Runs: 1}},
		{"nearest rank", runs("", true, 10, 1, 9, 2, 8, 3, 7, 4, 6, 5), "", Estimate{P50: 5, P90: 9, Runs: 10}},
		{"the newest twenty", runs("", true, hundred...), "", Estimate{P50: 90, P90: 98, Runs: 20}},
		{"failed ones do not count", append(runs("", true, 60), runs("", false, 1, 1)...), "",
			Estimate{P50: 60, P90: 60, Runs: 1}},
		{"unless there is nothing else", runs("", false, 3, 1, 2), "", Estimate{P50: 2, P90: 3, Runs: 3}},
		{"a shard of its own", append(runs("a", true, 1), runs("b", true, 5)...), "b", Estimate{P50: 5, P90: 5, Runs: 1}},
		{"other shards", append(runs("a", true, 1), runs("b", true, 5)...), "c",
			Estimate{P50: 1, P90: 5, Runs: 2, Pooled: true}},
		{"the whole is no shard", runs("", true, 600), "c", Estimate{}},
		{"shards are not the whole", runs("a", true, 1), "", Estimate{}},
		{"no duration", runs("", true, 0, -1), "", Estimate{}},
		{"a name that is too long", runs(strings.Repeat("x", maxName+1), true, 1), "c", Estimate{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := open(t)
			if err := s.Add(t.Context(), c.known); err != nil {
				t.Fatal(err)
			}
			if got := s.Estimate(t.Context(), "tf", c.shard); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if p50, p90 := s.Snapshot().Seconds(t.Context(), "tf", c.shard); p50 != c.want.P50 || p90 != c.want.P90 {
				t.Errorf("got %v and %v, want those of %+v", p50, p90, c.want)
			}
			if got := s.Estimate(t.Context(), "other", ""); got != (Estimate{}) {
				t.Errorf("another integration has %+v", got)
			}
		})
	}
}

// Later versions read this document, so its format must stay.
func TestDocument(t *testing.T) {
	s, folder := open(t)
	if err := s.Add(t.Context(), append(runs("b", false, 1.23456), runs("a", true, 0.0001)...)); err != nil {
		t.Fatal(err)
	}
	const want = `{"version":"1","integration":"tf","shards":[` +
		`{"shard":"a","runs":[{"seconds":0.001,"passed":true,"at":"2026-03-01T12:00:00Z"}]},` +
		`{"shard":"b","runs":[{"seconds":1.235,"passed":false,"at":"2026-03-01T12:00:00Z"}]}]}`
	got, err := os.ReadFile(filepath.Join(folder, key("tf")))
	if err != nil || string(got) != want {
		t.Errorf("got  %s %v\nwant %s", got, err, want)
	}
}

// A document that is not valid counts as none. It is set aside and replaced, unless it has
// another version.
func TestForeign(t *testing.T) {
	good := `{"version":"1","integration":"tf","shards":[{"shard":"","runs":[{"seconds":5,"passed":true,"at":"2026-03-01T12:00:00Z"}]}]}`
	for _, c := range []struct{ name, text string }{
		{"empty", ""},
		{"cut short", good[:len(good)/2]},
		{"another version", strings.Replace(good, `"1"`, `"2"`, 1)},
		{"of another integration", strings.Replace(good, `"tf"`, `"ldap"`, 1)},
		{"a list", "[]"},
		{"null", "null"},
		{"negative", strings.Replace(good, "5,", "-5,", 1)},
		{"too long to be true", strings.Replace(good, "5,", "1e300,", 1)},
		{"no number", strings.Replace(good, "5,", `"5",`, 1)},
		{"a shard twice", strings.Replace(good, `[{"shard"`, `[{"shard":"","runs":[{"seconds":1}]},{"shard"`, 1)},
		{"a shard without runs", `{"version":"1","integration":"tf","shards":[{"shard":"","runs":[]}]}`},
		{"too many runs", strings.Replace(good, `"runs":[`, `"runs":[`+strings.Repeat(`{"seconds":1},`, maxRuns), 1)},
		{"too large", good + strings.Repeat(" ", maxDocument)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, folder := open(t)
			file := filepath.Join(folder, key("tf"))
			if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := s.Estimate(t.Context(), "tf", ""); got != (Estimate{}) {
				t.Errorf("got %+v of it", got)
			}
			want, aside, told := Estimate{P50: 7, P90: 7, Runs: 1}, 1, "it is kept as"
			if c.name == "another version" {
				want, aside, told = Estimate{}, 0, `its version is "2"`
			}
			if err := s.Add(t.Context(), runs("", true, 7)); err == nil || !strings.Contains(err.Error(), told) {
				t.Errorf("got %v, want …%s…", err, told)
			}
			if got := s.Estimate(t.Context(), "tf", ""); got != want {
				t.Errorf("afterwards got %+v, want %+v", got, want)
			}
			raw, err := os.ReadFile(file)
			if aside == 0 && string(raw) != c.text {
				t.Errorf("the document is now %s, %v", raw, err)
			}
			kept, err := filepath.Glob(filepath.Join(folder, "corrupt", "*"))
			if err != nil || len(kept) != aside {
				t.Errorf("set aside: %q, %v, want %d", kept, err, aside)
			}
			if aside > 0 {
				if err := s.Add(t.Context(), runs("", true, 7)); err != nil {
					t.Errorf("it is told again: %v", err)
				}
			}
		})
	}
}

// If there are too many shards, the shards that ran last stay.
func TestManyShards(t *testing.T) {
	s, folder := open(t)
	var all []Run
	for i := range maxShards + 10 {
		for range maxRuns {
			all = append(all, Run{Integration: "tf", Shard: fmt.Sprintf("%0300d", i), Seconds: 1e6 / 7,
				At: noon.Add(time.Duration(i) * time.Minute)})
		}
	}
	if err := s.Add(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]bool{0: true, 9: true, 10: false, maxShards + 9: false} {
		if got := s.Estimate(t.Context(), "tf", fmt.Sprintf("%0300d", i)).Pooled; got != want {
			t.Errorf("shard %d is estimated from others: got %t, want %t", i, got, want)
		}
	}
	info, err := os.Stat(filepath.Join(folder, key("tf")))
	if err != nil || info.Size() > maxDocument {
		t.Errorf("the largest document has %d bytes, more than %d (%v)", info.Size(), maxDocument, err)
	}
}

// Several writers at the same time leave a document that can be read.
func TestWriters(t *testing.T) {
	s, _ := open(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 5 {
				if err := s.Add(t.Context(), runs(fmt.Sprint("shard", i), true, 1, 2, 3)); err != nil {
					t.Error(err)
				}
				if e := s.Estimate(t.Context(), "tf", "any"); e.Runs == 0 {
					t.Error("nothing can be read while others write")
				}
			}
		})
	}
	all.Wait()
	for i := range 8 {
		if e := s.Estimate(t.Context(), "tf", fmt.Sprint("shard", i)); e.Runs != 15 || e.Pooled {
			t.Errorf("shard %d: got %+v, want all 15 runs", i, e)
		}
	}
}

func TestUnwritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state")
	dir, err := state.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := NewStore(dir)
	const want = `remembering the durations of "tf": `
	if err := s.Add(t.Context(), runs("", true, 1)); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s…", err, want)
	}
}

// A snapshot does not see what is added later.
func TestSnapshot(t *testing.T) {
	s, _ := open(t)
	if err := s.Add(t.Context(), runs("", true, 1)); err != nil {
		t.Fatal(err)
	}
	old := s.Snapshot()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got, _ := old.Seconds(ended, "tf", ""); got != 0 {
		t.Errorf("an interrupted reading told %v", got)
	}
	before, _ := old.Seconds(t.Context(), "tf", "")
	if err := s.Add(t.Context(), runs("", true, 9, 9, 9)); err != nil {
		t.Fatal(err)
	}
	again, _ := old.Seconds(t.Context(), "tf", "")
	now, _ := s.Snapshot().Seconds(t.Context(), "tf", "")
	if before != 1 || again != 1 || now != 9 {
		t.Errorf("got %v, then %v, and %v anew; want 1, 1 and 9", before, again, now)
	}
}

// Whatever the document is, estimates are plausible, and the document can be read after a
// run was added.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(`{"version":"1","integration":"tf","shards":[{"shard":"","runs":[{"seconds":5,"passed":true,"at":"2026-03-01T12:00:00Z"}]}]}`))
	f.Add([]byte(`{"version":"1","integration":"tf","shards":[{"shard":"a","runs":[{"seconds":1e-9}]},{"shard":"b","runs":[{"seconds":2592000}]}]}`))
	f.Add([]byte(`{"version":"1","integration":"tf","shards":[{"shard":"\ud800","runs":[{"seconds":1}]}]}`))
	f.Add([]byte(`{"version":"1"`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		doc, err := kind("tf").Decode(raw)
		if err != nil {
			doc = &document{Version: Version, Integration: "tf"}
		}
		for _, shard := range []string{"", "a", "new"} {
			if e := doc.estimate(shard); e.P50 < 0 || e.P50 > e.P90 || e.P90 > maxSeconds || (e.Runs == 0) != (e.P90 == 0) {
				t.Errorf("shard %q: got %+v of %q", shard, e, raw)
			}
		}
		doc.add(runs("new", true, 3)[0])
		doc.trim()
		again, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		doc, err = kind("tf").Decode(again)
		if err != nil {
			t.Fatalf("%v: what was just added to %q", err, raw)
		}
		if e := doc.estimate("new"); e.Runs == 0 || e.Pooled {
			t.Errorf("got %+v of what was just added to %q", e, raw)
		}
	})
}
