package state

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/app-sre/prcheck/internal/safepath"
)

// unfinished is the prefix of the names of files, and objects, that are not documents:
// they are being written, or serve to try out a bucket.
const unfinished = ".new-"

// readFile reads the file of a document. It follows no links.
func readFile(root *os.Root, key string) ([]byte, error) {
	folder, err := safepath.Below(root, path.Dir(key), false)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	f, err := safepath.OpenFileIn(folder, path.Base(key), os.O_RDONLY|nowait, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a file")
	}
	if err == nil && info.Size() > MaxDocument {
		err = fmt.Errorf("it has more than %d bytes", MaxDocument)
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, MaxDocument))
}

// replaceFile writes a document to a new file and moves the file to its place. The
// function guard calls the move, for instance while it holds a lock.
func (d *Dir) replaceFile(root *os.Root, key string, raw []byte, guard func(move func() error) error) error {
	folder, err := safepath.Below(root, path.Dir(key), true)
	if err != nil {
		return err
	}
	defer folder.Close()
	temporary := unfinished + rand.Text()
	err = createFile(folder, temporary, raw, !d.isLoose)
	if err == nil {
		err = guard(func() error { return folder.Rename(temporary, path.Base(key)) })
	}
	if err != nil {
		_ = folder.Remove(temporary)
		return err
	}
	if !d.isLoose {
		syncFolder(folder)
	}
	return nil
}

// createFile creates a file. With sync it is on disk when createFile returns.
func createFile(root *os.Root, name string, raw []byte, sync bool) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err == nil && sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncFolder writes the names in a folder to disk, on systems that can do so. On others
// a crash may bring back an older document, but never a part of one.
func syncFolder(folder *os.Root) {
	if f, err := folder.Open("."); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}
