package affected

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

type shardCase struct {
	Area, Name string
	Input      struct {
		Previous, Current json.RawMessage
		Selectors         []string
		ReviewMaxShards   *int `json:"review_max_shards"`
	}
	Expected struct {
		DiffFound      bool  `json:"diff_found"`
		CanExitEarly   bool  `json:"can_exit_early"`
		AffectedShards []any `json:"affected_shards"`
	}
	Deviation             string
	CorrectAffectedShards *[]any `json:"correct_affected_shards"`
}

// The conformance cases of the reference, with its defects corrected.
func TestConformance(t *testing.T) {
	shared.Each(t, "affected_shards", func(t *testing.T, c shardCase) {
		got := Attribute(document(t, c.Input.Previous), document(t, c.Input.Current), selectors(t, c.Input.Selectors...),
			settings.OrderIgnored)
		want := c.Expected.AffectedShards
		same := c.Expected.CanExitEarly
		if c.Deviation != "" {
			// Every deviation of these cases is towards running more.
			same, want = false, nil
		}
		if c.CorrectAffectedShards != nil {
			want = *c.CorrectAffectedShards
		}
		if limit := c.Input.ReviewMaxShards; limit != nil && len(got.Keys) > *limit {
			got.Keys = nil
		}
		if got.Same != same || !slices.Equal(anys(got.Keys), want) {
			t.Errorf("got %+v, want same %v, keys %v", got, same, want)
		}
	})
}

func document(t *testing.T, raw []byte) []any {
	t.Helper()
	v, err := bundle.ParseValue(raw)
	if err != nil {
		t.Fatal(err)
	}
	return []any{v}
}

func selectors(t *testing.T, texts ...string) []settings.Selector {
	t.Helper()
	var out []settings.Selector
	for _, text := range texts {
		s, err := settings.ParseSelector(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

func anys(in []string) []any {
	var out []any
	for _, s := range in {
		out = append(out, s)
	}
	return out
}
