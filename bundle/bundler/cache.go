package bundler

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// cacheFormat is part of every name in a cache: another one is another cache.
const cacheFormat = "1"

// maxCache is up to how many bytes a cache keeps; the ones that were not used
// for the longest time go first.
const maxCache = 2 << 30

// A Cache is a folder that remembers what became of files, by git's id of
// their content, and whole bundles of commits. Nothing depends on it: what is
// missing, cut, changed or of another version is made again. Several processes
// may use it at once. A nil cache remembers nothing.
type Cache struct{ dir string }

// OpenCache names the folder of a cache, which is made when there is something
// to keep.
func OpenCache(dir string) *Cache { return &Cache{filepath.Join(dir, "bundles-"+cacheFormat)} }

// Bundle gives the bytes of a bundle that was kept under a key. They may be
// anything: the caller compares their sha256 with sum.
func (c *Cache) Bundle(key string) (raw []byte, sum string, ok bool) {
	if c == nil || key == "" {
		return nil, "", false
	}
	name := filepath.Join(c.dir, key+".json")
	raw, err := os.ReadFile(name)
	const head = 2*sha256.Size + 1
	if err != nil || len(raw) < head || raw[head-1] != '\n' {
		return nil, "", false
	}
	touch(name)
	return raw[head:], string(raw[:head-1]), true
}

// KeepBundle remembers the bytes of a bundle. It is a matter of speed alone, so
// there is no error.
func (c *Cache) KeepBundle(key string, raw []byte) {
	if c == nil || key == "" {
		return
	}
	sum := sha256.Sum256(raw)
	c.keep(key+".json", func(w io.Writer) error {
		if _, err := io.WriteString(w, hex.EncodeToString(sum[:])+"\n"); err != nil {
			return err
		}
		_, err := w.Write(raw)
		return err
	})
	c.evict()
}

// keep writes a file as a whole or not at all.
func (c *Cache) keep(name string, write func(io.Writer) error) {
	name = filepath.Join(c.dir, filepath.FromSlash(name))
	if os.MkdirAll(filepath.Dir(name), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(name), "new-*")
	if err != nil {
		return
	}
	err = write(f)
	if closed := f.Close(); err == nil && closed == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}

// touch says that a file was used.
func touch(name string) {
	now := time.Now()
	_ = os.Chtimes(name, now, now)
}

// evict removes what was not used for the longest time when there is too much.
func (c *Cache) evict() {
	type old struct {
		name string
		size int64
		used time.Time
	}
	var all []old
	total := int64(0)
	_ = filepath.WalkDir(c.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			all = append(all, old{name, info.Size(), info.ModTime()})
			total += info.Size()
		}
		return nil
	})
	slices.SortFunc(all, func(a, b old) int { return a.used.Compare(b.used) })
	for _, o := range all {
		if total <= maxCache {
			return
		}
		if os.Remove(o.name) == nil {
			total -= o.size
		}
	}
}
