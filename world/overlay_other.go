//go:build !linux

package world

import (
	"context"
	"errors"
)

// An overlayProbe is not needed on this system.
type overlayProbe struct{}

// canOverlay reports whether views can be overlays.
func (k *Kept) canOverlay() bool { return false }

// prepareOverlay says that there are no overlays on this system.
func (v *View) prepareOverlay(context.Context, []Extra) error {
	return errors.New("this system has no overlays")
}
