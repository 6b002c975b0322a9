package difference

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
)

// A differenceCase is two contents, and how they differ.
type differenceCase struct {
	Input    struct{ Old, New json.RawMessage }
	Expected struct {
		Diffs []json.RawMessage
		Why   string
	}
}

// Contents differ as the recorded cases say.
func TestDifferenceCases(t *testing.T) {
	shared.Each(t, "owners_diff", func(t *testing.T, c differenceCase) {
		got, want := []string{}, []string{}
		for _, d := range Of(decoded(t, c.Input.Old), decoded(t, c.Input.New)) {
			got = append(got, Canonical(written(d)))
		}
		for _, raw := range c.Expected.Diffs {
			want = append(want, Canonical(decoded(t, raw)))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// written returns a difference in the form of the cases, which keep __identifier.
func written(d Difference) map[string]any {
	out := map[string]any{"path": d.Place().String(), "type": d.Kind.String()}
	if d.Kind == Changed || d.Kind == Removed {
		out["old"] = d.Old
	}
	if d.Kind == Changed || d.Kind == Added {
		out["new"] = d.New
	}
	if d.Kind == Changed && d.Base.String() != d.Head.String() {
		out["old_path"] = d.Base.String()
	}
	return out
}

func decoded(t *testing.T, raw []byte) any {
	t.Helper()
	var v any
	if len(raw) == 0 {
		return v
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
