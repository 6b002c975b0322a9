package world

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Usage returns how many trees a keeper's folder holds, and how many bytes of the disk it takes, with the stored bytes
// of edited files. A folder that is not there holds nothing.
func Usage(dir string) (trees int, bytes int64) {
	k := Keeper{Dir: dir}
	folders := k.keptFolders()
	seen := map[uint64]bool{}
	for _, folder := range folders {
		if m, err := readManifest(folder, filepath.Base(folder)); err == nil {
			bytes += m.newBytes(seen)
		}
	}
	for _, b := range k.blobs() {
		bytes += b.size
	}
	return len(folders), bytes
}

// newBytes returns how much of the disk files take that are not in a set, and adds them to it.
func (m *manifest) newBytes(seen map[uint64]bool) int64 {
	only := manifest{folders: m.folders}
	for _, e := range m.entries {
		if e.state.inode != 0 {
			if seen[e.state.inode] {
				continue
			}
			seen[e.state.inode] = true
		}
		only.entries = append(only.entries, e)
	}
	return only.bytes()
}

// A storedBlob is bytes of an edited file.
type storedBlob struct {
	name string
	size int64
	used time.Time
}

// blobs lists the stored bytes of edited files.
func (k Keeper) blobs() []storedBlob {
	var out []storedBlob
	_ = filepath.WalkDir(filepath.Join(k.Dir, "blobs"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			out = append(out, storedBlob{name, info.Size(), info.ModTime()})
		}
		return nil
	})
	return out
}

// evict removes what killed processes left, and what was not used for the longest time until the folder is within its
// bound. What somebody uses stays, and so does one tree that was just made.
func (k Keeper) evict(justMade string) {
	k.removeLeft()
	limit := k.MaxBytes
	if limit <= 0 {
		limit = defaultBytes
	}
	blobs := k.blobs()
	total := int64(0)
	for _, b := range blobs {
		total += b.size
	}
	slices.SortFunc(blobs, func(a, b storedBlob) int { return a.used.Compare(b.used) })
	for _, b := range blobs { // they are also in the kept trees that need them
		if total <= limit/4 {
			break
		}
		if os.Remove(b.name) == nil {
			total -= b.size
		}
	}
	k.evictTrees(limit-total, justMade)
}

// evictTrees removes kept trees until the others are within a bound.
func (k Keeper) evictTrees(limit int64, justMade string) {
	folders := k.keptFolders()
	atMost := int64(0)
	for _, dir := range folders {
		atMost += readSketch(dir).bytes
	}
	if atMost <= limit { // even if they shared nothing
		return
	}
	seen, total := map[uint64]bool{}, int64(0)
	for _, dir := range folders { // the last used first
		m, err := readManifest(dir, filepath.Base(dir))
		if err != nil {
			k.discard(dir)
			continue
		}
		before := total
		if total += m.newBytes(seen); total > limit && dir != justMade && before > 0 {
			k.discard(dir)
		}
	}
}

// removeLeft removes what processes left that were killed.
func (k Keeper) removeLeft() {
	all, err := k.lockAll(exclusiveNow)
	if err != nil {
		return
	}
	defer all.Close()
	for _, folder := range []string{k.Dir, filepath.Join(k.Dir, "views")} {
		found, _ := os.ReadDir(folder)
		for _, e := range found {
			name := filepath.Join(folder, e.Name())
			switch {
			case strings.HasPrefix(e.Name(), "old-"):
				removeAll(name)
			case strings.HasPrefix(e.Name(), "new-blob-"):
				if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > time.Hour {
					_ = os.Remove(name)
				}
			case strings.HasPrefix(e.Name(), "new-"), strings.HasPrefix(e.Name(), "view-"):
				k.removeUnused(name)
			}
		}
	}
}

// removeUnused removes a folder that nobody has locked.
func (k Keeper) removeUnused(dir string) {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return
	}
	if _, err := os.Lstat(filepath.Join(dir, "lock")); err == nil {
		lock, ok := openLock(dir, exclusiveNow)
		if !ok {
			return
		}
		defer lock.Close()
	}
	removeAll(dir)
}

// removeAll removes a folder with all that is in it, whatever its modes.
func removeAll(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(name, 0o700) //nolint:gosec // ours, and about to be removed
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}
