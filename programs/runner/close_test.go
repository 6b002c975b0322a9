package runner

import (
	"context"
	"os"
	"testing"

	"github.com/app-sre/prcheck/integration"
)

// A keeping native keeps files while the program runs.
type keeping struct{ closed *bool }

func (keeping) Name() string                                          { return "keeping" }
func (keeping) DryRun(context.Context, integration.Environment) error { return nil }
func (k keeping) Close() error                                        { *k.closed = true; return nil }

// The program closes its natives, whatever becomes of its command.
func TestMainCloses(t *testing.T) {
	args := os.Args
	defer func() { os.Args = args }()
	os.Args = []string{"runner", "version"}
	closed := false
	if code := Main(keeping{&closed}); code != 0 || !closed {
		t.Errorf("got %d, closed is %t", code, closed)
	}
}
