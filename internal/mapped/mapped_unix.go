//go:build unix

package mapped

import (
	"errors"
	"os"
	"syscall"
)

// A File is the bytes of a file.
type File struct{ raw []byte }

// Open returns the bytes of a regular file. The caller closes it.
func Open(name string) (*File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() != int64(int(info.Size())):
		return nil, &os.PathError{Op: "map", Path: name, Err: errors.ErrUnsupported}
	case info.Size() == 0:
		return &File{}, nil
	}
	raw, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "map", Path: name, Err: err}
	}
	return &File{raw}, nil
}

// Close gives the memory back. Nobody may use the bytes afterwards.
func (f *File) Close() {
	if f.raw != nil {
		_ = syscall.Munmap(f.raw) // it fails for no mapping alone
		f.raw = nil
	}
}
