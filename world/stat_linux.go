package world

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// ChangeTime returns when a file, or what is known of it, was changed. No program can set it.
func ChangeTime(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctim.Sec, s.Ctim.Nsec)
	}
	return info.ModTime()
}

// Inode returns the number of a file, 0 if it has none.
func Inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}

// lstat returns what is compared of a file, a link or a folder.
func lstat(name string) (fileState, error) {
	var s syscall.Stat_t // os.Lstat takes twice as long, for some ten thousand files
	if err := syscall.Lstat(name, &s); err != nil {
		return fileState{}, &os.PathError{Op: "lstat", Path: name, Err: err}
	}
	mode := s.Mode
	if mode&syscall.S_IFMT == syscall.S_IFLNK {
		mode = syscall.S_IFLNK
	}
	return fileState{mode, s.Size, s.Mtim.Nano(), s.Ino}, nil
}
