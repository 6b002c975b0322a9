package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/runner/place"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/world"
)

// baseDirUsage is the help for the flag --base-dir.
const baseDirUsage = "folder with base's files, in which tasks on base start, if base is a bundle file (default: the " +
	"files of base's revision)"

// keeperIn returns the keeper of the files of both sides: in the cache, or if that cannot be written, in a
// folder that is removed when the command ends.
func keeperIn(open source.Opener, temp string) world.Keeper {
	if open.Cache != "" && canWrite(open.Cache) {
		return world.Keeper{Dir: source.WorldsIn(open.Cache)}
	}
	return world.Keeper{Dir: filepath.Join(temp, "worlds")}
}

// canWrite reports whether files can be written to a folder, which it makes if it is missing.
func canWrite(folder string) bool {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return false
	}
	f, err := os.CreateTemp(folder, "probe-")
	if err != nil {
		return false
	}
	_, err = f.WriteString("probe")
	return errors.Join(err, f.Close(), os.Remove(f.Name())) == nil
}

// placesOf returns the places in which the tasks of a change start.
func placesOf(ctx context.Context, env cli.Env, w change.Worlds, s source.OpenedSettings,
	keeper world.Keeper) (*place.Places, error) {
	inJob := change.InJob(env.Getenv)
	p := &place.Places{
		Folder: s.Folder(), Base: place.Side(w.Base), Head: place.Side(w.Head), Others: w.Others, Wrote: w.Wrote,
		OfJob:  inJob,
		Keeper: keeper, Environment: s.Environment(), Prepared: len(s.Prepare()) > 0,
	}
	switch {
	case p.Head != nil && inJob:
		same, err := w.IsCheckedOut(ctx)
		p.InPlace = same
		return p, err
	case p.Head == nil && p.Base != nil:
		p.Others = func() ([]string, error) { return ignoredIn(ctx, s.Folder()) }
	case p.Head == nil && p.Base == nil && !inJob:
		at, err := source.FindWorkplace(ctx, s.Folder())
		p.Shared = err == nil && !at.IsRepository()
	}
	return p, nil
}

// ignoredIn lists the files that git ignores in the repository of a folder; none if it lies in no repository.
func ignoredIn(ctx context.Context, folder string) ([]string, error) {
	at, err := source.FindWorkplace(ctx, folder)
	if err != nil || !at.IsRepository() {
		return nil, err
	}
	return world.Ignored(ctx, at.Root)
}
