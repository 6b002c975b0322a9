package memory

import (
	"errors"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/integration"
)

// A Limit is the value of a flag: an amount such as 4GiB, auto, or nothing. The
// zero value is nothing.
type Limit struct {
	auto  bool
	bytes int64
	text  string
}

// Set reads a limit.
func (l *Limit) Set(text string) (err error) {
	*l = Limit{auto: text == "auto", text: text}
	if !l.auto {
		if l.bytes, err = integration.ParseBytes(text); err != nil {
			return errors.New("must be auto, or an amount of memory such as 4GiB")
		}
	}
	return nil
}

// String returns what was set.
func (l *Limit) String() string { return l.text }

// Type names the values, for pflag.
func (l *Limit) Type() string { return "size" }

// Bytes returns the limit in bytes, 0 when there is none. For auto it is nine
// tenths of what this machine, or the container, has to give, as the files of
// system say; none when they say nothing.
func (l *Limit) Bytes(system fs.FS) int64 {
	if !l.auto {
		return l.bytes
	}
	least := int64(math.MaxInt64)
	for _, name := range []string{"sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		raw, err := fs.ReadFile(system, name)
		if n, bad := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64); err == nil && bad == nil && n > 0 {
			least = min(least, n)
		}
	}
	if n := available(system); n > 0 {
		least = min(least, n)
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least / 10 * 9
}

// available is what the kernel says can be used without swapping, 0 when it says
// nothing.
func available(system fs.FS) int64 {
	raw, err := fs.ReadFile(system, "proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == "MemAvailable:" && fields[2] == "kB" {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil || n > math.MaxInt64>>10 {
				return 0
			}
			return n << 10
		}
	}
	return 0
}
