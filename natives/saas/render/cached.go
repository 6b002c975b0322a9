package render

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/state"
)

// maxCached bounds the size of the files that are remembered together, in bytes.
const maxCached = 4 << 20

// fullSha matches the name of a commit, which never has other files.
var fullSha = lazyregexp.New(`^[0-9a-f]{40}$`)

// A cachedFiles is the document of files at a path of a commit.
type cachedFiles struct {
	Version int               `json:"version"` // 1
	URL     string            `json:"url"`
	Commit  string            `json:"commit"`
	Path    string            `json:"path"`
	Deep    bool              `json:"deep"`
	Files   map[string][]byte `json:"files"`
	Digest  string            `json:"digest"` // of all that is before
}

// seal returns the digest of a document.
func (c cachedFiles) seal() string {
	h := sha256.New()
	write := func(raw string) { _, _ = fmt.Fprintf(h, "%d:%s", len(raw), raw) } // never fails
	write(fmt.Sprint(c.Version, c.Deep))
	for _, text := range []string{c.URL, c.Commit, c.Path} {
		write(text)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		write(name)
		write(string(c.Files[name]))
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// Cached returns a function that remembers what files returns, in the folder templates of a
// store. Files of a commit never change, so they are fetched once. A document that is damaged or
// cannot be read is fetched anew, and one that cannot be written is not remembered: the cache
// changes no result. With nil it returns files itself.
func Cached(store state.Store, files FilesFunc) FilesFunc {
	if store == nil {
		return files
	}
	return func(ctx context.Context, url, commit, path string, deep bool) (map[string][]byte, error) {
		if !fullSha.MatchString(commit) {
			return files(ctx, url, commit, path, deep)
		}
		doc := cachedFiles{Version: 1, URL: url, Commit: commit, Path: path, Deep: deep}
		key := "templates/" + state.Name(url, commit, path, fmt.Sprint(deep))
		if raw, err := store.Read(ctx, key); err == nil && len(raw) <= 2*maxCached {
			var kept cachedFiles
			if json.Unmarshal(raw, &kept) == nil && kept.Files != nil {
				doc.Files = kept.Files
				if kept.Digest == doc.seal() {
					return doc.Files, nil
				}
			}
		}
		found, err := files(ctx, url, commit, path, deep)
		if err != nil {
			return nil, err
		}
		size := 0
		for name, content := range found {
			size += len(name) + len(content)
		}
		doc.Files = found
		doc.Digest = doc.seal()
		if raw, err := json.Marshal(doc); err == nil && size <= maxCached {
			_ = store.Write(ctx, key, raw) // a cache
		}
		return found, nil
	}
}
