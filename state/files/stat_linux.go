package files

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime returns when a file, or what is known of it, was changed. Nobody can set it.
func changeTime(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctim.Sec, s.Ctim.Nsec)
	}
	return info.ModTime()
}
