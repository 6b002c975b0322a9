//go:build !linux

package world

import (
	"context"
	"errors"
)

// canOverlay reports whether views can be overlays.
func (k Keeper) canOverlay() bool { return false }

// prepareOverlay says that there are no overlays on this system.
func (v *View) prepareOverlay(context.Context, []Extra) error {
	return errors.New("this system has no overlays")
}
