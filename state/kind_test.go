package state_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/state"
)

type sums struct {
	Version string `json:"version"`
	Sum     int    `json:"sum"`
}

var kind = state.Kind[sums]{Version: "1", Limit: 100, Valid: func(s *sums) error {
	if s.Sum < 0 {
		return errors.New("the sum is negative")
	}
	return nil
}}

func add(s *sums) { s.Version, s.Sum = "1", s.Sum+1 }

func TestKind(t *testing.T) {
	for _, c := range []struct {
		name, text string
		is         error
		want       string // afterwards
		told       string
	}{
		{"ours", `{"version":"1","sum":5}`, nil, `{"version":"1","sum":6}`, ""},
		{"as large as may be", `{"version":"1","sum":5}` + strings.Repeat(" ", 77), nil, `{"version":"1","sum":6}`, ""},
		{"later", `{"version":"2","sum":5}`, state.ErrOtherVersion, `{"version":"2","sum":5}`, `its version is "2"`},
		{"a number", `{"version":2}`, state.ErrOtherVersion, `{"version":2}`, `its version is "2"`},
		{"long version", `{"version":"` + strings.Repeat("x", 70) + `"}`, state.ErrOtherVersion,
			`{"version":"` + strings.Repeat("x", 70) + `"}`, "xxx"},
		{"no version", `{"sum":5}`, state.ErrCorrupt, `{"version":"1","sum":1}`, "cut short or damaged"},
		{"null", `null`, state.ErrCorrupt, `{"version":"1","sum":1}`, "cut short or damaged"},
		{"empty", ``, state.ErrCorrupt, `{"version":"1","sum":1}`, "cut short or damaged"},
		{"cut", `{"version":"1","su`, state.ErrCorrupt, `{"version":"1","sum":1}`, "cut short or damaged"},
		{"wrong type", `{"version":"1","sum":"5"}`, state.ErrCorrupt, `{"version":"1","sum":1}`, "cut short or damaged"},
		{"not valid", `{"version":"1","sum":-5}`, state.ErrCorrupt, `{"version":"1","sum":1}`, "the sum is negative"},
		{"too large", `{"version":"1","sum":5}` + strings.Repeat(" ", 100), state.ErrCorrupt, `{"version":"1","sum":1}`,
			"cut short or damaged: it has more than 100 bytes;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := open(t)
			if err := s.Write(t.Context(), "a/b.json", []byte(c.text)); err != nil {
				t.Fatal(err)
			}
			if doc, err := kind.Read(t.Context(), s, "a/b.json"); !errors.Is(err, c.is) || err == nil && doc.Sum != 5 {
				t.Errorf("got %v, %v, want %v", doc, err, c.is)
			}
			warning, err := kind.Update(t.Context(), s, "a/b.json", add)
			raw, _ := s.Read(t.Context(), "a/b.json")
			told := fmt.Sprint(warning, err)
			if string(raw) != c.want || !strings.Contains(told, c.told) || c.told == "" && told != "<nil> <nil>" {
				t.Errorf("now %s, %s\nwant %s, %s", raw, told, c.want, c.told)
			}
			if (warning != nil) != errors.Is(c.is, state.ErrCorrupt) || (err != nil) != errors.Is(c.is, state.ErrOtherVersion) {
				t.Errorf("warning %v, error %v", warning, err)
			}
			list, err := s.List(t.Context(), "corrupt")
			if err != nil || (len(list) == 1) != (warning != nil) {
				t.Fatalf("set aside: %v, %v", list, err)
			}
			if len(list) == 1 {
				if raw, err := s.Read(t.Context(), list[0].Key); err != nil || string(raw) != c.text ||
					!strings.HasSuffix(told, fmt.Sprintf("; it is kept as %q <nil>", list[0].Key)) {
					t.Errorf("set aside is %q, %v; told %s", raw, err, told)
				}
			}
		})
	}
}

// A document that does not change is not written.
func TestKindUnchanged(t *testing.T) {
	s, fake := openS3(t)
	for i, want := range []int{2, 1} {
		before := fake.Requests()
		if _, err := kind.Update(t.Context(), s, "sum", func(s *sums) { s.Version, s.Sum = "1", 3 }); err != nil {
			t.Fatal(err)
		}
		if n := fake.Requests() - before; n != want {
			t.Errorf("time %d: %d requests, want %d", i, n, want)
		}
	}
}

// A sealedOff is a state in which no copies can be kept.
type sealedOff struct{ state.Store }

func (s sealedOff) Write(ctx context.Context, key string, raw []byte) error {
	if strings.HasPrefix(key, "corrupt/") {
		return errors.New("no room")
	}
	return s.Store.Write(ctx, key, raw)
}

// A corrupt document is replaced also if no copy can be kept, and the warning says so.
func TestCorruptWithoutCopy(t *testing.T) {
	s, _ := open(t)
	write(t, s, "a/b.json", "{")
	warning, err := kind.Update(t.Context(), sealedOff{s}, "a/b.json", add)
	const want = `"a/b.json" in the state is not used: it is cut short or damaged; keeping a copy: no room`
	if err != nil || warning == nil || warning.Error() != want {
		t.Errorf("got %v, %v, want %s", warning, err, want)
	}
	if raw, err := s.Read(t.Context(), "a/b.json"); err != nil || string(raw) != `{"version":"1","sum":1}` {
		t.Errorf("got %s, %v", raw, err)
	}
}

// Only a number of copies of corrupt documents are kept.
func TestManyCorrupt(t *testing.T) {
	s, _ := open(t)
	for i := range 25 {
		if err := s.Write(t.Context(), "a/b.json", fmt.Appendf(nil, "{%d", i)); err != nil {
			t.Fatal(err)
		}
		if warning, err := kind.Update(t.Context(), s, "a/b.json", add); warning == nil || err != nil {
			t.Fatal(warning, err)
		}
	}
	if list, err := s.List(t.Context(), "corrupt"); err != nil || len(list) != 20 {
		t.Errorf("%d are kept, %v, want 20", len(list), err)
	}
}

// Whatever the old document is, an update writes a valid document or leaves the old one.
func FuzzKind(f *testing.F) {
	f.Add([]byte(`{"version":"1","sum":5}`))
	f.Add([]byte(`{"version":2}`))
	f.Add([]byte(`{"VERSION":"1","sum":1e3}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		doc, err := kind.Decode(raw)
		switch {
		case err == nil:
			if again, err := json.Marshal(doc); err != nil || doc.Sum < 0 || doc.Version != "1" {
				t.Errorf("%q became %s, %v", raw, again, err)
			}
		case !errors.Is(err, state.ErrCorrupt) && !errors.Is(err, state.ErrOtherVersion):
			t.Errorf("%q: %v", raw, err)
		}
	})
}
