package runner

import (
	"context"
	"strings"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/place"
)

// placeOnHead makes the place of a task on head.
func (r *run) placeOnHead(ctx context.Context, t plan.Task) (place.Place, error) {
	return r.Places.OnHead(ctx, r.userOf(t))
}

// placeOnBase makes the place of a task on base.
func (r *run) placeOnBase(ctx context.Context, t plan.Task) (place.Place, error) {
	return r.Places.OnBase(ctx, r.userOf(t))
}

// userOf says who needs a place for a task.
func (r *run) userOf(t plan.Task) place.User {
	return place.User{Name: t.Integration, UsesFiles: r.usesFiles(t), IsRecorded: r.isRecorded(t) && r.canRecord()}
}

// usesFiles reports whether a task may use files of the repository: its settings do not promise
// that it uses none, or it opened one all the same.
func (r *run) usesFiles(t plan.Task) bool {
	found, _ := r.read.of(t.ID)
	return !t.Native && (!r.Settings.For(t.Integration).Programs.None || len(found.used) > 0)
}

// whyNotOnBase says why a run of a task on base says nothing about base, "" if it does.
func (r *run) whyNotOnBase(t plan.Task) string {
	if t.NewCommand {
		return "base has another command"
	}
	if r.BaseSettings != nil && r.BaseSettings.Digest() != r.Settings.Digest() {
		if keys := r.BaseSettings.DifferingKeys(r.Settings, t.Integration); len(keys) > 0 {
			return "head edits the settings by which it runs: " + strings.Join(keys, ", ")
		}
	}
	return r.Places.WhyNotBase(r.usesFiles(t))
}

// writesInPlace notes that a task writes into files that it could only replace.
func (r *run) writesInPlace(t plan.Task) { r.Places.WritesInPlace(t.Integration) }
