package promotions

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/app-sre/prcheck/state"
)

// decode reads a value that was decoded without types.
func decode(t *testing.T, from, into any) {
	t.Helper()
	raw, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

// A forgetful store loses what is written of components: the program was killed before.
type forgetful struct{ state.Store }

func (s *scene) forgetful() state.Store { return forgetful{s.state} }

func (f forgetful) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	if key == componentsKey {
		return errKilled
	}
	return f.Store.Update(ctx, key, change)
}
