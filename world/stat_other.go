//go:build !linux

package world

import (
	"io/fs"
	"os"
	"time"
)

// ChangeTime returns when a file was written.
func ChangeTime(info fs.FileInfo) time.Time { return info.ModTime() }

// Inode returns 0: the numbers of files are not looked at here.
func Inode(fs.FileInfo) uint64 { return 0 }

// lstat returns what is compared of a file, a link or a folder.
func lstat(name string) (fileState, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return fileState{}, err
	}
	return fileState{uint32(info.Mode()), info.Size(), info.ModTime().UnixNano(), 0}, nil
}
