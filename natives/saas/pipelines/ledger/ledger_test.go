package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
	"github.com/app-sre/prcheck/state"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func open(t *testing.T) state.Store {
	t.Helper()
	s, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// full returns a document in which every member has a value.
func full() *Document {
	d := New("shop")
	holds := decide.Holding{"u": {decide.Config: "c", decide.Commit: "s"}}
	it := &decide.Intent{ID: "i", Fingerprint: holds.Fingerprint(), Run: "r", Phase: decide.Pending, Since: noon,
		Holds: holds, Keys: map[string]string{"u": "k"}}
	f := &decide.Failure{ID: "i", Fingerprint: holds.Fingerprint(), Run: "r", Runs: 1, Since: noon, Own: holds,
		Holds: holds, Keys: map[string]string{"u": "k"}}
	d.Targets["u"] = decide.Applied{Key: "k", Values: decide.Values{decide.Config: "c"}}
	return d.With("stage", decide.Memory{Intent: it, Next: "n", Failed: f})
}

func TestWriteAndRead(t *testing.T) {
	s := open(t)
	empty, err := Read(t.Context(), s, "shop")
	if err != nil || empty.Generation != 0 || !empty.IsEmpty() {
		t.Fatalf("read %+v, %v, want a new document", empty, err)
	}
	written, err := Write(t.Context(), s, empty, full(), "w1")
	if err != nil {
		t.Fatal(err)
	}
	read, err := Read(t.Context(), s, "shop")
	if err != nil || !read.Same(full()) || read.Generation != 1 || read.Writer != "w1" || written.Generation != 1 {
		t.Errorf("read %+v, %v", read, err)
	}
	if _, err := Write(t.Context(), s, empty, full(), "w2"); !errors.Is(err, ErrChanged) {
		t.Errorf("the second writer: %v, want %v", err, ErrChanged)
	}
	if again, err := Write(t.Context(), s, empty, full(), "w1"); err != nil || again.Generation != 1 {
		t.Errorf("the same write again: %v, want it to be written already", err)
	}
	if _, err := Read(t.Context(), s, "other"); err != nil {
		t.Error(err)
	}
}

// Of many who write at once, each generation has one writer.
func TestWritersAtOnce(t *testing.T) {
	s := open(t)
	var mu sync.Mutex
	var wait sync.WaitGroup
	wrote := map[int]string{}
	for _, writer := range strings.Fields("a b c d") {
		wait.Go(func() {
			for range 10 {
				was, err := Read(context.Background(), s, "shop")
				if err != nil {
					t.Error(err)
					return
				}
				next, err := Write(context.Background(), s, was, full(), writer)
				switch {
				case errors.Is(err, ErrChanged):
				case err != nil:
					t.Error(err)
				default:
					mu.Lock()
					if other := wrote[next.Generation]; other != "" {
						t.Errorf("generation %d was written by %s and by %s", next.Generation, other, writer)
					}
					wrote[next.Generation] = writer
					mu.Unlock()
				}
			}
		})
	}
	wait.Wait()
	if doc, err := Read(t.Context(), s, "shop"); err != nil || doc.Generation != len(wrote) {
		t.Errorf("%d writes made generation %+v, %v", len(wrote), doc, err)
	}
}

func TestUnreadableDocuments(t *testing.T) {
	for name, c := range map[string]struct {
		raw  string
		want error
	}{
		"no JSON":         {`{`, state.ErrCorrupt},
		"no version":      {`{}`, state.ErrCorrupt},
		"a newer version": {`{"version":"saas/v2"}`, state.ErrOtherVersion},
		"no members":      {`{"version":"saas/v1"}`, state.ErrCorrupt},
		"of another file": {`{"version":"saas/v1","generation":1,"file":"x","targets":{},"cells":{},"gone":{}}`,
			state.ErrCorrupt},
		"an empty cell": {`{"version":"saas/v1","generation":1,"file":"shop","targets":{},"cells":{"stage":{}},"gone":{}}`,
			state.ErrCorrupt},
		"no values": {
			`{"version":"saas/v1","generation":1,"file":"shop","targets":{"u":{"key":"k"}},"cells":{},"gone":{}}`,
			state.ErrCorrupt},
		"no generation": {`{"version":"saas/v1","file":"shop","targets":{},"cells":{},"gone":{}}`, state.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			if err := s.Write(t.Context(), Key("shop"), []byte(c.raw)); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(t.Context(), s, "shop"); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if _, err := Write(t.Context(), s, New("shop"), full(), "w"); err == nil {
				t.Error("a document that cannot be read was overwritten")
			}
		})
	}
}

func TestGone(t *testing.T) {
	d := full()
	later := noon.Add(6 * 24 * time.Hour)
	first := d.WithoutGone(nil, nil, noon)
	if len(first.Targets) != 1 || !first.Gone["u"].Equal(noon) || len(first.Cells) != 1 {
		t.Errorf("at once %+v", first)
	}
	if again := first.WithoutGone(nil, nil, later); !again.Same(first) {
		t.Errorf("after six days %+v", again)
	}
	back := first.WithoutGone(map[string]bool{"u": true}, map[string]bool{"stage": true}, later.Add(24*time.Hour))
	if !back.Same(d) {
		t.Errorf("when it is back %+v", back)
	}
	if end := first.WithoutGone(nil, nil, noon.Add(7*24*time.Hour)); !end.IsEmpty() || len(end.Gone) > 0 {
		t.Errorf("after seven days %+v", end)
	}
	if len(d.Gone) > 0 {
		t.Error("the document was changed")
	}
}

func TestForget(t *testing.T) {
	s := open(t)
	if _, err := Write(t.Context(), s, New("shop"), full(), "w"); err != nil {
		t.Fatal(err)
	}
	count := func() int {
		list, err := All(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	for day, want := range []int{1, 1, 1, 1, 1, 1, 1, 0} {
		list, err := All(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if err := Forget(t.Context(), s, e, noon.Add(time.Duration(day)*24*time.Hour), "w2"); err != nil {
				t.Fatal(err)
			}
		}
		if got := count(); got != want {
			t.Errorf("after %d days there are %d documents, want %d", day, got, want)
		}
	}
}

func TestRunName(t *testing.T) {
	for cell, want := range map[string]string{
		"Shop/Stage": "shop-stage-0123456",
		"saas-openshift-cert-manager-routes/app-sre-production-xxxxxxxxxxxxxxxxxxxx": "saas-openshift-cert-manager-routes-app-sre-produ-0123456",
		strings.Repeat("a", 47) + "/b": strings.Repeat("a", 47) + "-0123456",
	} {
		if got := RunName(cell, "0123456789"); got != want {
			t.Errorf("%s: got %s, want %s", cell, got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"version":"saas/v1","generation":1,"file":"shop","targets":{"u":{"key":"k","values":{"config":"c"}}},"cells":{"e":{"intent":{"id":"i"}}},"gone":{"u":"2026-01-01T00:00:00Z"}}`)
	valid := full()
	valid.Generation = 1
	raw, err := json.Marshal(valid)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(raw))
	f.Fuzz(func(t *testing.T, raw string) {
		doc, err := kind.Decode([]byte(raw))
		if err != nil {
			return
		}
		for _, env := range doc.Environments() { // what is valid can be worked with
			m := doc.Memory(env, []string{"u"})
			doc.With(env, decide.Decide(decide.Cell{}, m, decide.Policy{}, noon).Memory).WithoutGone(nil, nil, noon)
		}
	})
}
