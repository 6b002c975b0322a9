package memory

import (
	"errors"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/settings"
)

// A Limit is the value of a flag: an amount such as 4GiB, or auto. The zero value is no
// limit.
type Limit struct {
	isAuto bool
	bytes  int64
	text   string
}

// Set reads the value of the flag.
func (l *Limit) Set(text string) (err error) {
	*l = Limit{isAuto: text == "auto", text: text}
	if !l.isAuto {
		if l.bytes, err = settings.ParseBytes(text); err != nil {
			return errors.New("must be auto, or an amount of memory such as 4GiB")
		}
	}
	return nil
}

// String returns the text that was given to Set.
func (l *Limit) String() string { return l.text }

// Type returns the name of the value in the help of the flag.
func (l *Limit) Type() string { return "size" }

// Bytes returns the limit in bytes, 0 if there is no limit. For auto it is nine tenths of
// the memory that is available: the least of the limits of the container and of the
// memory that the machine has free. They are read from the files of system, which is
// the root of the file system. If no file gives a number, there is no limit.
func (l *Limit) Bytes(system fs.FS) int64 {
	if !l.isAuto {
		return l.bytes
	}
	least := int64(math.MaxInt64)
	for _, name := range []string{"sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		raw, err := fs.ReadFile(system, name)
		if n, bad := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64); err == nil && bad == nil && n > 0 {
			least = min(least, n)
		}
	}
	if n := readAvailable(system); n > 0 {
		least = min(least, n)
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least / 10 * 9
}

// readAvailable returns how many bytes can be used without swapping, as the kernel
// estimates, 0 if it gives no estimate.
func readAvailable(system fs.FS) int64 {
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
