//go:build !linux

package files

import (
	"io/fs"
	"time"
)

// changeTime returns when a file was changed.
func changeTime(info fs.FileInfo) time.Time { return info.ModTime() }
