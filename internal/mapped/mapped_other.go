//go:build !unix

package mapped

import "os"

// A File is the bytes of a file.
type File struct{ raw []byte }

// Open returns the bytes of a file, a copy on this system. The caller closes it.
func Open(name string) (*File, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return &File{raw}, nil
}

// Close gives the memory back.
func (f *File) Close() { f.raw = nil }
