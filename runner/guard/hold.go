package guard

import (
	"context"
	"os"
)

// A Hold is a file that stays open until the last process is gone. The zero value
// is none.
type Hold struct {
	Name string
	Open func(ctx context.Context, name string) (*os.File, error)
}

func (h Hold) open(ctx context.Context) (*os.File, error) {
	if h.Open == nil {
		return nil, nil
	}
	return h.Open(ctx, h.Name)
}
