package world

import (
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// A sketch is a small sample of the files of a tree, and how much of the disk they take. Two trees with most files in
// common have most of their samples in common, too. It only helps to choose; nothing is wrong when it is.
type sketch struct {
	bytes  int64
	sample []uint64 // the smallest hashes of files, sorted
}

// maxSample bounds the size of a sample.
const maxSample = 256

// sketchOf returns the sketch of files.
func sketchOf(files []File, bytes int64) sketch {
	all := make([]uint64, 0, len(files))
	h := fnv.New64a()
	for _, f := range files {
		h.Reset()
		_, _ = io.WriteString(h, f.Mode+f.ID+f.Path)
		all = append(all, h.Sum64())
	}
	slices.Sort(all)
	return sketch{bytes, all[:min(len(all), maxSample)]}
}

func (s sketch) encode() []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(s.bytes))
	for _, n := range s.sample {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return b
}

// readSketch reads the sketch of a kept tree; one that is missing is empty.
func readSketch(dir string) sketch {
	raw, err := os.ReadFile(filepath.Join(dir, "sketch"))
	if err != nil || len(raw) < 8 {
		return sketch{}
	}
	s := sketch{bytes: int64(binary.BigEndian.Uint64(raw))}
	for raw = raw[8:]; len(raw) >= 8; raw = raw[8:] {
		s.sample = append(s.sample, binary.BigEndian.Uint64(raw))
	}
	return s
}

// common returns how many hashes two samples have in common.
func (s sketch) common(other sketch) int {
	n := 0
	for _, h := range s.sample {
		if _, ok := slices.BinarySearch(other.sample, h); ok {
			n++
		}
	}
	return n
}

// maxCompared bounds how many manifests are read to find the nearest tree.
const maxCompared = 3

// linkNearest makes hard links of the files that the nearest kept tree has, too. An error only means that fewer files
// are linked.
func (m *maker) linkNearest() {
	lock, near, files := m.keeper.nearest(m.tree)
	if near == nil {
		return
	}
	defer lock.Close()
	known := near.byPath()
	for i, f := range m.tree.files {
		if f.Mode == modeSubmodule || f.Mode == modeLink {
			continue
		}
		if _, isConverted := m.conversions[f.Path]; isConverted {
			continue
		}
		old, ok := known[f.Path]
		raw, _ := hex.DecodeString(f.ID)
		if !ok || old.Mode != f.Mode || old.ID != string(raw) {
			continue
		}
		name := m.at(f.Path)
		if os.Link(files+"/"+f.Path, name) != nil {
			continue
		}
		if state, err := lstat(name); err != nil || state != old.state { // somebody changed it
			_ = os.Remove(name)
			continue
		}
		m.entries[i] = entry{f, old.state}
	}
}

// nearest returns the kept tree that differs in the fewest paths, among those whose sketches are the most alike, with a
// lock. It is not checked.
func (k Keeper) nearest(t *Tree) (lock *os.File, m *manifest, files string) {
	type candidate struct {
		dir    string
		common int
	}
	var all []candidate
	own := sketchOf(t.files, 0)
	for _, dir := range k.keptFolders() {
		if n := readSketch(dir).common(own); n > 0 {
			all = append(all, candidate{dir, n})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return b.common - a.common })
	most := -1
	for _, c := range all[:min(len(all), maxCompared)] {
		held, ok := openLock(c.dir, sharedNow)
		if !ok {
			continue
		}
		other, err := readManifest(c.dir, filepath.Base(c.dir))
		if n := 0; err == nil {
			if n = other.countSame(t.files); n > most {
				if lock != nil {
					_ = lock.Close()
				}
				most, lock, m, files = n, held, other, filepath.Join(c.dir, "files")
				continue
			}
		}
		_ = held.Close()
	}
	return lock, m, files
}

// countSame returns how many files a manifest has in common with a tree.
func (m *manifest) countSame(files []File) int {
	n, j := 0, 0
	for _, e := range m.entries {
		for j < len(files) && files[j].Path < e.Path {
			j++
		}
		if j < len(files) && files[j].Path == e.Path && files[j].Mode == e.Mode {
			if raw, _ := hex.DecodeString(files[j].ID); string(raw) == e.ID {
				n++
			}
		}
	}
	return n
}

// keptFolders returns the kept trees of this user, the last used first.
func (k Keeper) keptFolders() []string {
	found, _ := os.ReadDir(filepath.Join(k.Dir, "trees"))
	type used struct {
		dir string
		at  int64
	}
	var all []used
	for _, e := range found {
		dir := filepath.Join(k.Dir, "trees", e.Name())
		if !isPrivateFolder(dir) {
			continue
		}
		info, err := os.Lstat(filepath.Join(dir, "lock"))
		if err != nil {
			continue
		}
		all = append(all, used{dir, info.ModTime().UnixNano()})
	}
	slices.SortFunc(all, func(a, b used) int { return int(min(max(b.at-a.at, -1), 1)) })
	var out []string
	for _, u := range all {
		out = append(out, u.dir)
	}
	return out
}
