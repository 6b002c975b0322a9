package git

import (
	"os"
	"syscall"
)

// hasTimes reports whether a file has these times, to the nanosecond.
func hasTimes(name string, want times) bool {
	info, err := os.Lstat(name)
	if err != nil {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && want == times{stampOf(s.Ctim), stampOf(s.Mtim)}
}

func stampOf(t syscall.Timespec) stamp {
	seconds, nanoseconds := t.Unix()
	return stamp{seconds, nanoseconds}
}
