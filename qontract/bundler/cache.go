package bundler

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/app-sre/prcheck/internal/hugepages"
)

// cacheFormat is the version of the files in a cache. It is part of their names, so
// a new version never reads old files.
const cacheFormat = "3"

// maxCacheSize bounds a cache, in bytes. Beyond it, the files that were not used for
// the longest time are removed.
const maxCacheSize = 2 << 30

// A Cache is a folder with records of files, by git's id of their content, with whole
// bundles of commits, and with the names in folders. It only saves time: an entry that is missing, damaged
// or of another version is made again. Several processes may use it at once. A nil
// cache is always empty.
type Cache struct{ dir string }

// OpenCache returns a cache in a folder. The folder is made when the first entry is
// written.
func OpenCache(dir string) *Cache { return &Cache{filepath.Join(dir, "bundles-"+cacheFormat)} }

// Bundle returns the bytes of the bundle that was stored under a key, and their sha256.
// A file that is damaged, or that was stored under another key, is as good as none.
func (c *Cache) Bundle(key string) (raw []byte, sum string, ok bool) {
	if c == nil || key == "" {
		return nil, "", false
	}
	name := filepath.Join(c.dir, key+".json")
	all, err := readFile(name)
	head, raw, found := bytes.Cut(all, []byte{'\n'})
	if err != nil || !found {
		return nil, "", false
	}
	if sum = sha256Hex(raw); string(head) != key+" "+sum { // the key, too: a file may have been moved
		return nil, "", false
	}
	markUsed(name)
	return raw, sum, true
}

// A StoredBundle is a bundle in the cache whose bytes were not read. The caller checks what it
// reads of them.
type StoredBundle struct {
	io.ReaderAt
	Size   int64
	SHA256 string // of the bytes when they were stored
}

// Stored opens the bundle that was stored under a key. It is open until the process ends, and
// stays as it is when the cache removes it or stores another one.
func (c *Cache) Stored(key string) (StoredBundle, bool) {
	if c == nil || key == "" {
		return StoredBundle{}, false
	}
	name := filepath.Join(c.dir, key+".json")
	f, err := os.Open(name)
	if err != nil {
		return StoredBundle{}, false
	}
	head := make([]byte, len(key)+1+2*sha256.Size+1)
	_, err = f.ReadAt(head, 0)
	info, failed := f.Stat()
	if err != nil || failed != nil || !info.Mode().IsRegular() || string(head[:len(key)+1]) != key+" " ||
		head[len(head)-1] != '\n' {
		_ = f.Close()
		return StoredBundle{}, false
	}
	markUsed(name)
	size := info.Size() - int64(len(head))
	return StoredBundle{io.NewSectionReader(f, int64(len(head)), size), size, string(head[len(key)+1 : len(head)-1])}, true
}

// readFile reads a whole file of the cache. Its memory may use huge pages, which makes
// reading large files faster.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.ErrUnsupported)
	}
	raw := make([]byte, info.Size())
	hugepages.Advise(raw)
	_, err = io.ReadFull(f, raw)
	return raw, err
}

func sha256Hex(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// KeepBundle stores the bytes of a bundle under a key, and returns their sha256. It
// ignores errors, since the cache only saves time.
func (c *Cache) KeepBundle(key string, raw []byte) (sum string) {
	sum = sha256Hex(raw)
	if c == nil || key == "" {
		return sum
	}
	c.writeFile(key+".json", func(w io.Writer) error {
		if _, err := io.WriteString(w, key+" "+sum+"\n"); err != nil {
			return err
		}
		_, err := w.Write(raw)
		return err
	})
	c.evictOldest()
	return sum
}

// Recall returns the bytes that Remember stored under a key.
func (c *Cache) Recall(key string) ([]byte, bool) {
	raw, _, ok := c.Bundle(key)
	return raw, ok
}

// Remember stores bytes under a key.
func (c *Cache) Remember(key string, raw []byte) { c.KeepBundle(key, raw) }

// writeFile writes a file of the cache as a whole or not at all.
func (c *Cache) writeFile(name string, write func(io.Writer) error) {
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

// markUsed sets the time at which a file was last used to now.
func markUsed(name string) {
	now := time.Now()
	_ = os.Chtimes(name, now, now)
}

// evictOldest removes the files that were not used for the longest time until the
// cache is within its bound.
func (c *Cache) evictOldest() {
	type cachedFile struct {
		name string
		size int64
		used time.Time
	}
	var all []cachedFile
	total := int64(0)
	_ = filepath.WalkDir(c.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			all = append(all, cachedFile{name, info.Size(), info.ModTime()})
			total += info.Size()
		}
		return nil
	})
	slices.SortFunc(all, func(a, b cachedFile) int { return a.used.Compare(b.used) })
	for _, file := range all {
		if total <= maxCacheSize {
			return
		}
		if os.Remove(file.name) == nil {
			total -= file.size
		}
	}
}
