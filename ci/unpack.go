package ci

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// An unpacker unpacks archives below one folder, within limits for all archives together.
type unpacker struct {
	root  *os.Root
	bytes int64 // number of bytes that may still be unpacked
	files int   // number of files that may still be unpacked
}

// unpack unpacks an archive into a new folder and returns the names of its files. After an
// error it removes the folder.
func (u *unpacker) unpack(archive *os.File, folder string) (names []string, err error) {
	info, err := archive.Stat()
	if err != nil {
		return nil, err
	}
	r, err := zip.NewReader(archive, info.Size())
	if err != nil {
		return nil, fmt.Errorf("the archive: %w", err)
	}
	if err := u.root.Mkdir(folder, 0o750); err != nil {
		return nil, fmt.Errorf("%w: collect into an empty folder", err)
	}
	defer func() {
		if err != nil {
			_ = u.root.RemoveAll(folder)
		}
	}()
	for _, f := range r.File {
		if strings.HasSuffix(f.Name, "/") {
			continue // a folder is made when it gets a file
		}
		name, err := u.unpackFile(f, folder)
		if err != nil {
			return nil, fmt.Errorf("the archive holds %q: %w", f.Name, err)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// unpackFile unpacks one file of an archive and returns its path.
func (u *unpacker) unpackFile(f *zip.File, folder string) (string, error) {
	switch {
	case !filepath.IsLocal(filepath.FromSlash(f.Name)) || strings.ContainsAny(f.Name, "\\\x00"):
		return "", errors.New("a name that leads elsewhere")
	case !f.Mode().IsRegular():
		return "", errors.New("which is no plain file")
	case u.files == 0:
		return "", fmt.Errorf("after %d files, more than are taken", maxFiles)
	}
	u.files--
	name := path.Join(folder, f.Name)
	if err := u.root.MkdirAll(path.Dir(name), 0o750); err != nil {
		return "", err
	}
	in, err := f.Open()
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return "", err
	}
	n, err := io.Copy(out, io.LimitReader(in, u.bytes+1))
	err = errors.Join(err, out.Close())
	if u.bytes -= n; err == nil && u.bytes < 0 {
		err = fmt.Errorf("with which it unpacks to more than %d bytes", maxUnpacked)
	}
	return name, err
}
