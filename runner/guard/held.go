package guard

import (
	"context"
	"os"
)

// A HeldFile is a file that stays open until guard and worker are gone. The zero value
// holds no file.
type HeldFile struct {
	Name string
	Open func(ctx context.Context, name string) (*os.File, error)
}

// open opens the file, nil if there is none to hold.
func (h HeldFile) open(ctx context.Context) (*os.File, error) {
	if h.Open == nil {
		return nil, nil
	}
	return h.Open(ctx, h.Name)
}
