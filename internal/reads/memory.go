//go:build linux && amd64

package reads

import (
	"bytes"
	"errors"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A memory holds what was read from stopped threads, so that a stop allocates nothing.
type memory struct {
	path [unix.PathMax]byte       // a path as it is in a thread
	name [2*unix.PathMax + 1]byte // an absolute name
	link [64]byte                 // the name of a link below /proc, with a zero at its end
}

// pageSize is the smallest size of a page. The memory of a process ends at the end of a page.
const pageSize = 4096

// firstPiece is how much of a path is read first. Most paths are shorter.
const firstPiece = 256

// errTooLong reports that a path is longer than the kernel takes.
var errTooLong = errors.New("path too long")

// name returns the absolute name of a path among the arguments of a call, nil if the call
// looks nothing up, or if the name cannot be found out. The name holds until the next call of
// name.
func (t *Tracer) name(tid int, task *task, arg pathArg, args [6]uint64) []byte {
	path, err := t.memory.readPath(tid, args[arg.path])
	switch {
	case errors.Is(err, unix.ESRCH) || errors.Is(err, errTooLong): // killed meanwhile; refused by the kernel
		return nil
	case err != nil:
		t.book.doubt("the memory of a process cannot be read")
		return nil
	}
	fd := unix.AT_FDCWD
	if arg.dir != none {
		fd = int(int32(args[arg.dir]))
	}
	switch {
	case len(path) > 0 && path[0] == '/':
		return path
	case len(path) > 0:
		return t.below(tid, task, fd, path)
	case t.at.number == unix.SYS_EXECVEAT && args[arg.path] != 0 && fd >= 0: // it runs the open file
		return append(t.memory.name[:0], t.memory.link[:t.memory.setLink(tid, fd)]...)
	}
	return nil // the call fails, or is about an open file
}

// below returns the name of a path below the folder of a descriptor.
func (t *Tracer) below(tid int, task *task, fd int, path []byte) []byte {
	if fd == unix.AT_FDCWD && task.age == t.book.age && len(task.folder) > 0 {
		return append(append(append(t.memory.name[:0], task.folder...), '/'), path...)
	}
	folder, err := t.memory.folder(tid, fd)
	switch {
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH): // no such descriptor, or thread any more
		return nil
	case err != nil || len(folder) > unix.PathMax:
		t.book.doubt("the folder of a relative path cannot be found")
		return nil
	case folder[0] != '/': // no folder, so the call fails
		if bytes.HasPrefix(folder, []byte("(unreachable)")) {
			t.book.doubt("the folder of a relative path cannot be found")
		}
		return nil
	case bytes.HasSuffix(folder, []byte(deletedMark)) && isDeleted("/proc/", string(folder)):
		if !bytes.HasPrefix(path, []byte("..")) && !bytes.Contains(path, []byte("/..")) {
			return nil // nothing can be found in a folder that was removed, apart from the folder above
		}
		folder = folder[:len(folder)-len(deletedMark)]
	}
	if fd == unix.AT_FDCWD && !t.sharesFolders { // nobody else changes the current folder
		task.folder, task.age = append(task.folder[:0], folder...), t.book.age
	}
	name := append(t.memory.name[:len(folder)], '/')
	return append(name, path...)
}

// folder returns the name of the folder of a descriptor, or of the current folder.
func (m *memory) folder(tid, fd int) ([]byte, error) {
	m.setLink(tid, fd)
	n, _, errno := unix.Syscall6(unix.SYS_READLINKAT, 0, uintptr(unsafe.Pointer(&m.link)),
		uintptr(unsafe.Pointer(&m.name)), unix.PathMax+1, 0, 0)
	if errno != 0 {
		return nil, errno
	}
	if n == 0 {
		return nil, unix.ENOENT
	}
	return m.name[:n], nil
}

// setLink sets link to the name of the link to the folder of a descriptor, or to the current
// folder. It returns the length of the name.
func (m *memory) setLink(tid, fd int) int {
	link := append(m.link[:0], "/proc/"...)
	link = strconv.AppendInt(link, int64(tid), 10)
	if fd == unix.AT_FDCWD {
		link = append(link, "/cwd"...)
	} else {
		link = strconv.AppendInt(append(link, "/fd/"...), int64(fd), 10)
	}
	m.link[len(link)] = 0
	return len(link)
}

// readPath reads a path from the memory of a stopped thread. At the address 0 there is none.
func (m *memory) readPath(tid int, at uint64) ([]byte, error) {
	if at == 0 {
		return nil, nil
	}
	for n := 0; n < len(m.path); {
		piece := min(pageSize-int((at+uint64(n))%pageSize), len(m.path)-n)
		if n == 0 {
			piece = min(piece, firstPiece)
		}
		got, err := readMemory(tid, at+uint64(n), m.path[n:n+piece])
		if err != nil {
			return nil, err
		}
		if end := bytes.IndexByte(m.path[n:n+got], 0); end >= 0 {
			return m.path[:n+end], nil
		}
		n += got
	}
	return nil, errTooLong
}

// readAll fills buffer from the memory of a stopped thread. It fails if it cannot.
func (t *Tracer) readAll(tid int, at uint64, buffer []byte) bool {
	n, err := readMemory(tid, at, buffer)
	if err == nil && n == len(buffer) {
		return true
	}
	if at != 0 && !errors.Is(err, unix.ESRCH) {
		t.book.doubt("the memory of a process cannot be read")
	}
	return false
}

// readMemory reads memory of a stopped thread. It reads at least one byte, or fails.
func readMemory(tid int, at uint64, buffer []byte) (int, error) {
	local := unix.Iovec{Base: &buffer[0], Len: uint64(len(buffer))}
	remote := unix.RemoteIovec{Base: uintptr(at), Len: len(buffer)}
	n, _, errno := unix.Syscall6(unix.SYS_PROCESS_VM_READV, uintptr(tid), uintptr(unsafe.Pointer(&local)), 1,
		uintptr(unsafe.Pointer(&remote)), 1, 0)
	switch {
	case errno != 0:
		return 0, errno
	case n == 0:
		return 0, unix.EFAULT
	}
	return int(n), nil
}
