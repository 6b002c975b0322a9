package world

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/app-sre/prcheck/internal/packed"
)

// A manifest lists what a kept tree has on disk.
type manifest struct {
	key     string
	entries []entry       // sorted by path
	folders []folderEntry // the root is ""; sorted by path
}

// An entry is a file or a link of a kept tree. A submodule is a folder.
type entry struct {
	File
	state fileState
}

// A fileState is what is compared of a file to see whether somebody changed it. The time of the last change of the
// inode is not compared: it moves whenever another kept tree, or a view, gets a hard link of the file.
type fileState struct {
	mode     uint32
	size     int64
	modified int64 // nanoseconds
	inode    uint64
}

// A folderEntry is a folder with the number of names in it.
type folderEntry struct {
	path  string
	names int
}

// manifestStart begins a manifest; the number is its version.
const manifestStart = "prcheck world 1 "

// encode writes a manifest down, with a checksum at its end.
func (m *manifest) encode() []byte {
	b := []byte(manifestStart + m.key + "\n")
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	b = binary.AppendUvarint(b, uint64(len(m.entries)))
	for _, e := range m.entries {
		text(e.Path)
		text(e.Mode)
		raw, _ := hex.DecodeString(e.ID)
		text(string(raw))
		for _, n := range []uint64{uint64(e.state.mode), uint64(e.state.size), uint64(e.state.modified),
			e.state.inode} {
			b = binary.AppendUvarint(b, n)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(m.folders)))
	for _, f := range m.folders {
		text(f.path)
		b = binary.AppendUvarint(b, uint64(f.names))
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// errDamaged says that a kept tree is not as it was made.
var errDamaged = errors.New("it is damaged")

// readManifest reads the manifest of a kept tree.
func readManifest(dir, key string) (*manifest, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "manifest"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	start := manifestStart + key + "\n"
	end := len(raw) - sha256.Size
	if end < len(start) || string(raw[:len(start)]) != start ||
		sha256.Sum256(raw[:end]) != [sha256.Size]byte(raw[end:]) {
		return nil, fmt.Errorf("%w: its manifest is not the one that was written", errDamaged)
	}
	d := packed.Read(string(raw[len(start):end]))
	m := &manifest{key: key, entries: make([]entry, d.Count())}
	for i := range m.entries {
		e := &m.entries[i]
		e.Path, e.Mode, e.ID = d.Text(), modeText(d.Text()), d.Text()
		e.state = fileState{uint32(d.Number()), int64(d.Number()), int64(d.Number()), d.Number()}
	}
	m.folders = make([]folderEntry, d.Count())
	for i := range m.folders {
		m.folders[i] = folderEntry{d.Text(), int(d.Number())}
	}
	if d.IsDamaged() || d.Rest() != "" {
		return nil, fmt.Errorf("%w: its manifest cannot be read", errDamaged)
	}
	return m, nil
}

// modeText returns one of the constants, which saves memory.
func modeText(mode string) string {
	for _, known := range [...]string{modeFile, modeProgram, modeLink, modeSubmodule} {
		if mode == known {
			return known
		}
	}
	return mode
}

// check compares a kept tree with its manifest: each file is as it was written, and there are no others.
func (m *manifest) check(files string) error {
	for _, f := range m.folders {
		names, err := namesIn(filepath.Join(files, filepath.FromSlash(f.path)))
		if err != nil || names != f.names {
			return fmt.Errorf("%w: the folder %q has other names than it was made with", errDamaged, f.path)
		}
	}
	for _, e := range m.entries {
		if e.Mode == modeSubmodule {
			continue // one of the folders
		}
		state, err := lstat(files + "/" + e.Path)
		if err != nil || state != e.state {
			return fmt.Errorf("%w: %q is not as it was written", errDamaged, e.Path)
		}
	}
	return nil
}

// namesIn returns the number of names in a folder to which no link leads.
func namesIn(folder string) (int, error) {
	info, err := os.Lstat(folder)
	if err != nil {
		return 0, err
	}
	if !info.IsDir() || info.Mode().Perm() != 0o755 {
		return 0, errDamaged
	}
	f, err := os.Open(folder)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	return len(names), err
}

// listFolders returns the folders of files, with the number of names in each.
func listFolders(files []File) []folderEntry {
	out := []folderEntry{{}}
	place := map[string]int{"": 0}
	var add func(folder string) int
	add = func(folder string) int {
		if i, ok := place[folder]; ok {
			return i
		}
		parent := path.Dir("/" + folder)[1:]
		out[add(parent)].names++
		place[folder] = len(out)
		out = append(out, folderEntry{path: folder})
		return len(out) - 1
	}
	for _, f := range files {
		if f.Mode == modeSubmodule {
			add(f.Path)
			continue
		}
		out[add(f.Path[:max(strings.LastIndexByte(f.Path, '/'), 0)])].names++
	}
	return out
}

// bytes returns how much of the disk the kept tree takes, if it shares nothing with others.
func (m *manifest) bytes() int64 {
	const block = 4096
	total := int64(len(m.folders)) * block
	for _, e := range m.entries {
		total += (e.state.size + block - 1) / block * block
	}
	return total
}

// byPath returns the entries by their paths.
func (m *manifest) byPath() map[string]entry {
	out := make(map[string]entry, len(m.entries))
	for _, e := range m.entries {
		out[e.Path] = e
	}
	return out
}

// writeWhole writes a file as a whole: nobody sees a part of it.
func writeWhole(name string, raw []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), "new-*")
	if err != nil {
		return err
	}
	_, err = bytes.NewReader(raw).WriteTo(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
