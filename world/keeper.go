package world

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/git"
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

// freeze returns git's id of a file's bytes. It stores the bytes in the keeper's folder, unless their id is one that is
// known.
func (k Keeper) freeze(name string, digits int, known string) (string, error) {
	for range 3 {
		id, err := k.freezeOnce(name, digits, known)
		if !errors.Is(err, errChanging) {
			return id, err
		}
	}
	return "", errChanging
}

var errChanging = errors.New("the file changes all the time")

// maxInMemory is up to which size a file is read as a whole.
const maxInMemory = 4 << 20

func (k Keeper) freezeOnce(name string, digits int, known string) (string, error) {
	f, size, err := openRegular(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := newBlobHash(digits, size)
	if size <= maxInMemory || k.Dir == "" {
		return k.freezeSmall(f, h, size, known)
	}
	return k.freezeLarge(f, h, size, known)
}

// openRegular opens a file that is no link, and returns its size.
func openRegular(name string) (*os.File, int64, error) {
	before, err := os.Lstat(name)
	if err != nil {
		return nil, 0, err
	}
	if !before.Mode().IsRegular() {
		return nil, 0, errChanging
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil || !os.SameFile(before, info) {
		_ = f.Close()
		return nil, 0, errors.Join(err, errChanging)
	}
	return f, info.Size(), nil
}

// freezeSmall hashes a file, and stores it if it is small.
func (k Keeper) freezeSmall(f io.Reader, h io.Writer, size int64, known string) (string, error) {
	var raw []byte
	var n int64
	var err error
	if size <= maxInMemory {
		raw, err = io.ReadAll(io.LimitReader(f, size+1))
		n = int64(len(raw))
		_, _ = h.Write(raw)
	} else {
		n, err = io.Copy(h, f)
	}
	if err != nil {
		return "", err
	}
	if n != size {
		return "", errChanging
	}
	id := sumOf(h)
	if k.Dir == "" || id == known || k.hasBlob(id, size) {
		return id, nil
	}
	return id, k.storeBlob(func(w io.Writer) (string, error) { _, err := w.Write(raw); return id, err })
}

// freezeLarge stores a file while it is hashed.
func (k Keeper) freezeLarge(f io.Reader, h io.Writer, size int64, known string) (id string, err error) {
	err = k.storeBlob(func(w io.Writer) (string, error) {
		n, err := io.Copy(io.MultiWriter(h, w), f)
		if err == nil && n != size {
			err = errChanging
		}
		if id = sumOf(h); id == known || k.hasBlob(id, size) {
			return "", err
		}
		return id, err
	})
	return id, err
}

// sumOf returns the digits of a hash.
func sumOf(h io.Writer) string {
	return hex.EncodeToString(h.(interface{ Sum([]byte) []byte }).Sum(nil))
}

// blobName returns the name of stored bytes.
func (k Keeper) blobName(id string) string { return filepath.Join(k.Dir, "blobs", id[:2], id) }

// hasBlob reports whether bytes are stored, and notes that they are used.
func (k Keeper) hasBlob(id string, size int64) bool {
	name := k.blobName(id)
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() != size {
		return false
	}
	now := time.Now()
	return os.Chtimes(name, now, now) == nil
}

// storeBlob stores the bytes that a function writes, by their id. Without an id they are not stored.
func (k Keeper) storeBlob(write func(io.Writer) (id string, err error)) error {
	if err := k.prepare(); err != nil {
		return err
	}
	w, err := os.CreateTemp(k.Dir, "new-blob-*")
	if err != nil {
		return err
	}
	defer os.Remove(w.Name())
	id, err := write(w)
	if closed := w.Close(); err == nil {
		err = closed
	}
	if err != nil || id == "" {
		return err
	}
	name := k.blobName(id)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return os.Rename(w.Name(), name)
}

// Ignored lists the files and folders of a working tree that git ignores; a folder has a slash at its end, and what
// lies in it is not listed. What Python makes of its modules is left out.
func Ignored(ctx context.Context, root string) ([]string, error) {
	all, err := git.ListIgnored(ctx, root)
	slices.Sort(all)
	var out []string
	folder := "" // the last one
	for _, name := range all {
		if folder != "" && strings.HasPrefix(name, folder) {
			continue
		}
		if strings.HasSuffix(name, "/") {
			folder = name
		}
		if path.Base(name) != "__pycache__" && !strings.HasSuffix(name, ".pyc") {
			out = append(out, name)
		}
	}
	return out, err
}

// Ignored returns those of some paths that git would ignore if a file or a folder lay there: none if the files are not
// those of a repository.
func (k *Kept) Ignored(ctx context.Context, paths []string) ([]string, error) {
	if k.tree.gitDir == "" {
		return nil, nil
	}
	asked := map[string]string{} // by the path without links on the way
	for _, p := range paths {
		steps := k.tree.Resolve(p)
		if end := steps[len(steps)-1]; end.Kind != Outside && end.Kind != Loop {
			asked[end.Path] = p
		}
	}
	found, err := git.ListIgnoredPaths(ctx, k.tree.gitDir, k.Folder(), slices.Sorted(maps.Keys(asked)))
	for i, name := range found {
		found[i] = asked[name]
	}
	slices.Sort(found)
	return found, err
}
