package pipelines

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/saas/pipelines/ledger"
	"github.com/app-sre/prcheck/natives/saas/saastest"
	"github.com/app-sre/prcheck/state"
)

// A quiet world writes nothing, and asks each source once.
func TestQuiet(t *testing.T) {
	s := newTestScene(t, saastest.Large(12, 120))
	publishAll(t, s)
	s.settle()
	before := s.documents(t)
	s.log.Reset()
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
	if after := s.documents(t); before != after {
		t.Error("a quiet iteration wrote")
	}
	if len(s.created)+len(s.deeds) > 0 {
		t.Errorf("a quiet iteration started %v, did %v", s.created, s.deeds)
	}
	kinds := map[string]int{}
	for what, n := range s.asked {
		kind, _, _ := strings.Cut(what, " ")
		kinds[kind] += n
		if n > 1 && kind != "cluster" && kind != "bucket" {
			t.Errorf("%s: asked %d times", what, n)
		}
	}
	// Each saas file has a repository and a namespace with runs; there is one build server.
	if kinds["heads"] != 12 || kinds["builds"] != 1 || kinds["list"] != 12 ||
		kinds["image"]+kinds["get"]+kinds["measure"]+kinds["create"] != 0 {
		t.Errorf("asked %v", kinds)
	}
}

// documents returns all documents of the state as one text.
func (s *testScene) documents(t testing.TB) string {
	t.Helper()
	list, err := s.state.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range list {
		raw, err := s.state.Read(t.Context(), e.Key)
		if err != nil {
			t.Fatal(err)
		}
		out[e.Key] = string(raw) + e.Written.String()
	}
	return jsonOf(out)
}

// A damaged document is kept, also as a copy, and holds its saas file alone.
func TestDamagedDocument(t *testing.T) {
	s := newTestScene(t, saastest.Large(2, 4))
	publishAll(t, s)
	s.settle()
	key := ledger.Key("app-000")
	for name, raw := range map[string]string{
		"cut off":                     `{"version":"saas/v1","gen`,
		"a fingerprint that is wrong": `{"version":"saas/v1","generation":3,"writer":"w","file":"app-000","targets":{},"gone":{},"cells":{"stage":{"intent":{"id":"i","run":"r","phase":"pending","fingerprint":"0","holds":{"u":{"config":"c"}}}}}}`,
		"another file": strings.ReplaceAll(string(read(t, s.state, ledger.Key("app-001"))), `"file":"app-001"`,
			`"file":"app-002"`),
		"a newer one": `{"version":"saas/v2"}`,
	} {
		t.Run(name, func(t *testing.T) {
			must(t, s.state.Write(t.Context(), key, []byte(raw)))
			if err := s.run(); err == nil || len(s.created) > 0 || s.unit("app-000/stage").State != "broken" ||
				s.unit("app-001/stage").State != "same" {
				t.Errorf("%v, %v", err, s.units)
			}
			if got := string(read(t, s.state, key)); got != raw {
				t.Errorf("it was changed to %s", got)
			}
			list, err := s.state.List(t.Context(), "saas/damaged")
			copies := 0
			for _, e := range list {
				if string(read(t, s.state, e.Key)) == raw {
					copies++
				}
			}
			if want := map[bool]int{true: 0, false: 1}[name == "a newer one"]; err != nil || copies != want {
				t.Errorf("%d copies, %v, want %d", copies, err, want)
			}
			before := s.documents(t)
			_ = s.run()
			if s.documents(t) != before {
				t.Error("the second iteration wrote again")
			}
		})
	}
}

func read(t *testing.T, s state.Store, key string) []byte {
	t.Helper()
	raw, err := s.Read(t.Context(), key)
	must(t, err)
	return raw
}
