package listing

import (
	"io/fs"
	"syscall"
)

// identify returns the identity of a folder, the zero value when the system does not tell it.
func identify(info fs.FileInfo) identity {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}
	}
	return identity{uint64(s.Dev), s.Ino, uint64(s.Mtim.Nano()), uint64(s.Ctim.Nano())}
}
