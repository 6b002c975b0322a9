package world

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/app-sre/prcheck/internal/git"
)

// Modes of kept files and folders.
const (
	keptFile    = 0o444
	keptProgram = 0o555
	keptFolder  = 0o755
)

// make makes a folder with the files of a tree.
func (k Keeper) make(ctx context.Context, t *Tree) (kept *Kept, err error) {
	dir, lock, err := k.newFolder("", "new-*")
	if err != nil {
		return nil, fmt.Errorf("making the files of %s: %w", t.name(), err)
	}
	defer func() {
		if err != nil {
			removeAll(dir)
			_ = lock.Close()
			err = fmt.Errorf("making the files of %s: %w", t.name(), err)
		}
	}()
	m := &maker{keeper: k, tree: t, files: filepath.Join(dir, "files"), entries: make([]entry, len(t.files))}
	if m.conversions, err = t.findConversions(ctx, dir); err != nil {
		return nil, err
	}
	if err := m.makeFolders(); err != nil {
		return nil, err
	}
	m.linkNearest()
	if err := m.writeRest(ctx); err != nil {
		return nil, err
	}
	done := &manifest{key: t.key(), entries: m.entries, folders: m.folders}
	if err := writeWhole(filepath.Join(dir, "sketch"), sketchOf(t.files, done.bytes()).encode()); err != nil {
		return nil, err
	}
	if err := writeWhole(filepath.Join(dir, "manifest"), done.encode()); err != nil {
		return nil, err
	}
	return &Kept{keeper: k, tree: t, dir: dir, lock: lock, manifest: done}, nil
}

// name returns a name of the tree for people.
func (t *Tree) name() string {
	switch {
	case t.isCommit:
		return "commit " + git.Short(t.commit)
	case t.gitDir != "":
		return "the working tree"
	}
	return fmt.Sprintf("the folder %q", t.root)
}

// A maker makes the files of a tree.
type maker struct {
	keeper  Keeper
	tree    *Tree
	files   string // the folder
	entries []entry
	folders []folderEntry

	conversions map[string]conversion // by path
}

// makeFolders makes all folders.
func (m *maker) makeFolders() error {
	m.folders = listFolders(m.tree.files)
	for _, f := range m.folders {
		name := m.at(f.path)
		if err := os.Mkdir(name, keptFolder); err != nil {
			return err
		}
		if info, err := os.Lstat(name); err != nil || info.Mode().Perm() != keptFolder {
			if err := os.Chmod(name, keptFolder); err != nil { // the mask of the process took something away
				return err
			}
		}
	}
	return nil
}

// at returns the name on disk of a path of the tree.
func (m *maker) at(path string) string { return m.files + "/" + path }

// A batch is files whose contents are in the same repository.
type batch struct {
	gitDir string
	from   []int // places of the files
}

// maxBatch bounds how many files one git is asked for.
const maxBatch = 4000

// writeRest writes the files that were not linked.
func (m *maker) writeRest(ctx context.Context) error {
	var g errgroup.Group
	g.SetLimit(min(4, runtime.NumCPU()))
	for _, b := range m.batches() {
		g.Go(func() error { return m.writeBatch(ctx, b) })
	}
	return g.Wait()
}

// batches divides the files that were not linked.
func (m *maker) batches() []batch {
	var out []batch
	for i, f := range m.tree.files {
		if m.entries[i].Path != "" || f.Mode == modeSubmodule {
			m.entries[i].File = f
			continue
		}
		dir := m.tree.gitDirOf(f.Path)
		if len(out) == 0 || out[len(out)-1].gitDir != dir || len(out[len(out)-1].from) == maxBatch {
			out = append(out, batch{gitDir: dir})
		}
		last := &out[len(out)-1]
		last.from = append(last.from, i)
	}
	return out
}

// gitDirOf returns where git finds the content of a file.
func (t *Tree) gitDirOf(path string) string {
	dir := t.gitDir
	for _, mod := range t.modules { // the inner ones come later
		if strings.HasPrefix(path, mod.folder+"/") {
			dir = mod.gitDir
		}
	}
	return dir
}

// window is how many contents git is asked for at once: so few that it can take all of the request before it answers.
const window = 500

// writeBatch writes the files of a batch.
func (m *maker) writeBatch(ctx context.Context, b batch) (err error) {
	r := git.NewBlobReader(ctx, b.gitDir)
	defer func() {
		if closed := r.Close(); err == nil {
			err = closed
		}
	}()
	for len(b.from) > 0 {
		now := b.from[:min(window, len(b.from))]
		b.from = b.from[len(now):]
		var ids []string
		for _, i := range now {
			if f := m.tree.files[i]; !m.tree.onDisk[f.Path] && f.Mode != modeLink {
				ids = append(ids, f.ID)
			}
		}
		if err := r.Request(ids...); err != nil {
			return err
		}
		for _, i := range now {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := m.writeFile(r, i); err != nil {
				return fmt.Errorf("%q: %w", m.tree.files[i].Path, err)
			}
		}
	}
	return nil
}

// writeFile writes a file or a link.
func (m *maker) writeFile(r *git.BlobReader, i int) error {
	f := m.tree.files[i]
	name := m.at(f.Path)
	if f.Mode == modeLink {
		if err := os.Symlink(m.tree.links[f.ID], name); err != nil {
			return err
		}
		return m.note(i)
	}
	mode := fs.FileMode(keptFile)
	if f.Mode == modeProgram {
		mode = keptProgram
	}
	w, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	c, isConverted := m.conversions[f.Path]
	switch {
	case m.tree.onDisk[f.Path]:
		err = m.copyFromDisk(w, f)
	case isConverted:
		m.entries[i].ID, err = c.write(w, r, f.ID)
	default:
		err = r.Copy(w, f.ID)
	}
	if closed := w.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return m.note(i)
}

// note notes the state of a file that is complete.
func (m *maker) note(i int) error {
	f := m.tree.files[i]
	name := m.at(f.Path)
	state, err := lstat(name)
	if want := keptMode(f.Mode); err == nil && want != 0 && fs.FileMode(state.mode).Perm() != want {
		if err = os.Chmod(name, want); err == nil { // the mask of the process took something away
			state, err = lstat(name)
		}
	}
	if id := m.entries[i].ID; id != "" { // of other bytes than those of the commit
		f.ID = id
	}
	m.entries[i] = entry{f, state}
	return err
}

// keptMode returns the permissions of a kept file, 0 for a link.
func keptMode(mode string) fs.FileMode {
	switch mode {
	case modeFile:
		return keptFile
	case modeProgram:
		return keptProgram
	}
	return 0
}

// copyFromDisk writes bytes that git does not have: those that were stored when the tree was read, or those of the
// working tree if they are still the same.
func (m *maker) copyFromDisk(w io.Writer, f File) error {
	names := []string{filepath.Join(m.tree.root, filepath.FromSlash(f.Path))}
	if m.keeper.Dir != "" {
		names = append([]string{m.keeper.blobName(f.ID)}, names...)
	}
	for _, name := range names {
		if same, err := copySame(w, name, f.ID); same || err != nil {
			return err
		}
	}
	return errors.New("the file has changed since it was read: begin again")
}

// copySame writes the bytes of a file, if they are those that an id of git stands for.
func copySame(w io.Writer, name, id string) (bool, error) {
	in, size, err := openRegular(name)
	if err != nil {
		return false, nil //nolint:nilerr // the bytes may be elsewhere
	}
	defer in.Close()
	h := newBlobHash(len(id), size)
	if _, err := io.Copy(h, in); err != nil || hex.EncodeToString(h.Sum(nil)) != id {
		return false, nil //nolint:nilerr // the bytes may be elsewhere
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	h = newBlobHash(len(id), size)
	if _, err := io.Copy(io.MultiWriter(w, h), in); err != nil {
		return false, err
	}
	if hex.EncodeToString(h.Sum(nil)) != id {
		return false, errors.New("the file has changed while it was read: begin again")
	}
	return true, nil
}
