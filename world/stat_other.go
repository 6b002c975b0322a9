//go:build !linux

package world

import (
	"io/fs"
	"os"
	"time"
)

// ChangeTime returns when a file was written.
func ChangeTime(info fs.FileInfo) time.Time { return info.ModTime() }

// lstat returns what is compared of a file, a link or a folder.
func lstat(name string) (fileState, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return fileState{}, err
	}
	return fileState{uint32(info.Mode()), info.Size(), info.ModTime().UnixNano(), 0}, nil
}
