package world

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A Keeper keeps folders of trees, each made once, in a folder of its own. Several processes may use it at once, and
// may be killed at any time.
type Keeper struct {
	Dir      string // is made when it is first needed
	MaxBytes int64  // beyond it, trees that were not used for the longest time are removed; 0: 8 GiB
}

// defaultBytes is how much a keeper takes of the disk unless it is told otherwise.
const defaultBytes = 8 << 30

// A lockMode is how a file is locked.
type lockMode int

const (
	shared       lockMode = iota
	sharedNow             // without waiting
	exclusiveNow          // without waiting
)

// A Kept is a folder with exactly the files of a tree. It stays as it is until it is closed.
type Kept struct {
	keeper    Keeper
	tree      *Tree
	dir       string
	lock      *os.File
	manifest  *manifest
	isPrivate bool // nobody else finds it, and it is removed when it is closed
	git       gitFolder
	layer     gitLayer
	overlay   overlayProbe
}

// Folder returns the folder with the files. They must not be changed.
func (k *Kept) Folder() string { return filepath.Join(k.dir, "files") }

// Tree returns the tree that the folder was made of.
func (k *Kept) Tree() *Tree { return k.tree }

// Close allows others to remove the folder. All its views must be closed.
func (k *Kept) Close() error {
	err := k.layer.close()
	if k.isPrivate {
		removeAll(k.dir)
	}
	return errors.Join(err, k.lock.Close())
}

// key names the kept folder of a tree.
func (t *Tree) key() string {
	key := hexOnly(t.id)
	if t.nested != "" {
		key += "-" + t.nested
	}
	if t.conversions != "" {
		sum := sha256.Sum256([]byte(t.conversions))
		key += "-c" + hex.EncodeToString(sum[:6])
	}
	return key
}

// hexOnly returns an id as a part of a file name.
func hexOnly(id string) string {
	if len(id) > 7 && id[:7] == "sha256:" {
		return "f" + id[7:]
	}
	return id
}

// Keep returns a folder with exactly the files of a tree. One that was made before is used if nobody changed it.
func (k Keeper) Keep(ctx context.Context, t *Tree) (*Kept, error) {
	if t.trouble != "" {
		return nil, errors.New(t.trouble)
	}
	if err := k.prepare(); err != nil {
		return nil, fmt.Errorf("preparing the folder of worlds %q: %w", k.Dir, err)
	}
	final := filepath.Join(k.Dir, "trees", t.key())
	if kept := k.open(t, final); kept != nil {
		return kept, nil
	}
	made, err := k.make(ctx, t)
	if err != nil {
		return nil, err
	}
	if hasLocks && os.Rename(made.dir, final) == nil {
		made.dir = final
		k.evict(final)
		return made, nil
	}
	made.isPrivate = true
	if kept := k.open(t, final); kept != nil { // another process was faster
		_ = made.Close()
		return kept, nil
	}
	return made, nil
}

// open opens a kept tree, nil if there is none that can be used. A damaged one is removed, unless somebody uses it.
func (k Keeper) open(t *Tree, dir string) *Kept {
	if !isPrivateFolder(dir) {
		k.discard(dir)
		return nil
	}
	lock, ok := openLock(dir, shared)
	if !ok {
		k.discard(dir)
		return nil
	}
	m, err := readManifest(dir, t.key())
	if err == nil {
		err = m.check(filepath.Join(dir, "files"))
	}
	if err != nil {
		_ = lock.Close()
		k.discard(dir)
		return nil
	}
	now := time.Now()
	_ = os.Chtimes(filepath.Join(dir, "lock"), now, now)
	return &Kept{keeper: k, tree: t, dir: dir, lock: lock, manifest: m}
}

// isPrivateFolder reports whether a name is a folder of this user that nobody else can enter, and no link.
func isPrivateFolder(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.IsDir() && isOurs(info) && (!hasLocks || info.Mode().Perm() == 0o700)
}

// openLock opens and locks the lock of a folder. ok is false when there is none, when another has it, or when the
// folder was replaced meanwhile.
func openLock(dir string, mode lockMode) (*os.File, bool) {
	name := filepath.Join(dir, "lock")
	before, err := os.Lstat(name)
	if err != nil || !before.Mode().IsRegular() {
		return nil, false
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, false
	}
	ok, err := lockFile(f, mode)
	is, failed := f.Stat()
	now, gone := os.Lstat(name)
	if !ok || errors.Join(err, failed, gone) != nil || !os.SameFile(is, now) {
		_ = f.Close()
		return nil, false
	}
	return f, true
}

// discard removes a kept tree that cannot be used, unless somebody uses it.
func (k Keeper) discard(dir string) {
	info, err := os.Lstat(dir)
	if err != nil {
		return
	}
	if isPrivateFolder(dir) {
		if _, err := os.Lstat(filepath.Join(dir, "lock")); err == nil {
			lock, ok := openLock(dir, exclusiveNow)
			if !ok {
				return
			}
			defer lock.Close()
		}
	}
	if info.Mode()&os.ModeSymlink != 0 {
		_ = os.Remove(dir)
		return
	}
	old, err := os.MkdirTemp(k.Dir, "old-*")
	if err != nil {
		return
	}
	_ = os.Rename(dir, filepath.Join(old, "tree"))
	removeAll(old)
}

// prepare makes the folder of the keeper.
func (k Keeper) prepare() error {
	if k.Dir == "" || !filepath.IsAbs(k.Dir) {
		return errors.New("it needs an absolute path")
	}
	for _, name := range []string{k.Dir, filepath.Join(k.Dir, "trees"), filepath.Join(k.Dir, "blobs"),
		filepath.Join(k.Dir, "views")} {
		if err := os.MkdirAll(name, 0o700); err != nil {
			return err
		}
		if !isPrivateFolder(name) {
			return fmt.Errorf("%q belongs to another user, or others can enter it: remove it, or name another folder",
				name)
		}
	}
	tag := filepath.Join(k.Dir, "CACHEDIR.TAG")
	if _, err := os.Lstat(tag); err == nil {
		return nil
	}
	return writeWhole(tag, []byte(cacheTag+"\n"))
}

// newFolder makes a folder for something that is not complete. It is removed by others when this process has ended.
func (k Keeper) newFolder(parent, pattern string) (dir string, lock *os.File, err error) {
	all, err := k.lockAll(shared)
	if err != nil {
		return "", nil, err
	}
	defer all.Close()
	if dir, err = os.MkdirTemp(filepath.Join(k.Dir, parent), pattern); err != nil {
		return "", nil, err
	}
	lock, err = os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = lockFile(lock, shared)
	}
	if err != nil {
		removeAll(dir)
	}
	return dir, lock, err
}

// lockAll locks the list of folders: shared by those who make one, exclusive for those who remove what was left.
func (k Keeper) lockAll(mode lockMode) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(k.Dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	ok, err := lockFile(f, mode)
	if !ok {
		_ = f.Close()
		return nil, errors.Join(errors.New("its folder is in use"), err)
	}
	return f, nil
}
