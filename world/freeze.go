package world

import (
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
)

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
