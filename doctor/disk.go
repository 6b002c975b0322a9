package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/world"
)

// checkDisk tells how much of the disk the cache of this user takes: the files of sides, and the states
// of checkouts. Without anything of these it says nothing.
func (e *examination) checkDisk(ctx context.Context) {
	cache := e.Open.Cache
	if cache == "" {
		return
	}
	ofCheckout := regexp.MustCompile(`^[0-9a-f]{12}$`)
	worlds := source.WorldsIn(cache)
	if n, bytes := world.Usage(worlds); n > 0 || bytes > 0 {
		e.takes(worlds,
			fmt.Sprintf("%s that tasks start in, %s", phrase.CountOf(n, "kept tree of files", "kept trees of files"),
				size(bytes)))
	}
	states := source.StatesIn(cache)
	folders, err := os.ReadDir(states)
	folders = slices.DeleteFunc(folders, func(f os.DirEntry) bool { return !ofCheckout.MatchString(f.Name()) })
	if err != nil || len(folders) == 0 {
		return
	}
	own := ""
	if e.repo != nil {
		own = source.StateOf(cache, e.repo.Root())
	}
	var all, here int64
	for _, f := range folders {
		dir := filepath.Join(states, f.Name())
		bytes := stateSize(ctx, dir)
		if all += bytes; dir == own {
			here = bytes
		}
	}
	e.takes(states, fmt.Sprintf("what runner precheck remembers of %s, %s, of which %s for this one",
		phrase.Count(len(folders), "checkout"), size(all), size(here)))
}

// takes notes what a folder of the cache takes, and how to free it.
func (e *examination) takes(folder, what string) {
	e.found = append(e.found, Finding{Check: "disk", Level: OK, What: what,
		Remedy: fmt.Sprintf("to free it, while no check runs: rm -rf %q", folder)})
}

// stateSize returns how many bytes the documents of a state have; 0 if it cannot be listed.
func stateSize(ctx context.Context, dir string) (bytes int64) {
	s, err := state.Open(dir)
	if err != nil {
		return 0
	}
	list, err := s.List(ctx, "")
	if err != nil {
		return 0
	}
	for _, e := range list {
		bytes += e.Size
	}
	return bytes
}

// size returns a number of bytes for people.
func size(bytes int64) string {
	for _, u := range []struct {
		name string
		of   int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}} {
		if bytes >= u.of {
			return fmt.Sprintf("%.1f %s", float64(bytes)/float64(u.of), u.name)
		}
	}
	return fmt.Sprintf("%d KiB", (bytes+1023)>>10)
}
