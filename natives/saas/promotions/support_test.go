package promotions

import (
	"context"

	"github.com/app-sre/prcheck/state"
)

// A forgetful store loses what is written of components: the program was killed before.
type forgetful struct{ state.Store }

func (s *scene) forgetful() state.Store { return forgetful{s.state} }

func (f forgetful) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	if key == componentsKey {
		return errKilled
	}
	return f.Store.Update(ctx, key, change)
}
