//go:build linux && amd64

package reads

import (
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxFollows is how many links are followed for one name. The kernel follows 40.
const maxFollows = 200

// A walked is a name of which links were followed. The name of the root is "".
type walked struct {
	path     string
	links    []string // the links that were followed
	lost     bool     // the name leads to nothing that has a name
	found    bool     // after follow: something is there
	isFolder bool     // after follow: it is a folder
	inode    uint64   // after follow: of the file or folder
	fleeting bool     // the same name may soon lead elsewhere: it is below /proc
}

// folder follows all links of a name, and remembers the result.
func (b *book) folder(tid int, name string) walked {
	if strings.Trim(name, "/") == "" {
		return walked{}
	}
	if w, ok := b.folders[name]; ok {
		return w
	}
	w := b.follow(tid, b.step(tid, name))
	if !w.fleeting {
		if len(b.folders) >= maxRemembered {
			clear(b.folders)
		}
		b.folders[name] = w
	}
	return w
}

// step follows the links of a name apart from a link at its end.
func (b *book) step(tid int, name string) walked {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return walked{lost: true}
	}
	base, w := name[i+1:], b.folder(tid, name[:i])
	switch {
	case w.lost || base == "" || base == ".":
	case base == "..":
		w.path = w.path[:max(0, strings.LastIndexByte(w.path, '/'))]
	case w.path == "/proc" && base == "self":
		w.path, w.fleeting = "/proc/"+processOf(tid), true
	case w.path == "/proc" && base == "thread-self":
		w.path, w.fleeting = "/proc/"+strconv.Itoa(tid), true
	case w.path == name[:i]: // no link on the way, so this is the name
		w.path = name
		w.fleeting = w.fleeting || strings.HasPrefix(name, "/proc/")
	default:
		w.path += "/" + base
		w.fleeting = w.fleeting || strings.HasPrefix(w.path, "/proc/")
	}
	return w
}

// follow follows the link at the end of a name whose folders have no links, and all further
// links to which it leads.
func (b *book) follow(tid int, w walked) walked {
	if w.lost {
		return w
	}
	if len(w.path) >= unix.PathMax {
		b.doubt("a name is too long to be followed")
	}
	w.found = b.lstat(w.path)
	kind := b.info.Mode & unix.S_IFMT
	w.isFolder, w.inode = kind == unix.S_IFDIR, b.info.Ino
	if kind != unix.S_IFLNK {
		return w
	}
	to, err := os.Readlink(w.path)
	if err != nil {
		if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) { // else it is gone, or another one
			b.doubt(cannotLook)
		}
		return w
	}
	w.links = append(slices.Clip(w.links), w.path)
	b.follows--
	if b.follows <= 0 || isDeleted(w.path, to) {
		w.lost = true
		return w
	}
	if !strings.HasPrefix(to, "/") {
		to = w.path[:strings.LastIndexByte(w.path, '/')+1] + to
	}
	end := b.folder(tid, to)
	end.links = append(slices.Clip(w.links), end.links...)
	end.fleeting = end.fleeting || w.fleeting
	return end
}

// lstat fills info with what is known of a name, and reports whether something is there. Unlike the function of this
// name it allocates nothing.
func (b *book) lstat(name string) (isThere bool) {
	b.name = append(append(b.name[:0], name...), 0)
	_, _, errno := unix.Syscall(unix.SYS_LSTAT, uintptr(unsafe.Pointer(&b.name[0])), uintptr(unsafe.Pointer(&b.info)), 0)
	switch errno {
	case 0:
		return true
	case unix.ENOENT, unix.ENOTDIR, unix.ENAMETOOLONG, unix.EACCES, unix.ELOOP: // for the task, too
	default:
		b.doubt(cannotLook)
	}
	b.info = unix.Stat_t{}
	return false
}

// cannotLook is the doubt when the tracer may not look at a name.
const cannotLook = "a name cannot be looked at"

// processOf returns the id of the process of a thread. A thread may have a current folder and
// descriptors of its own.
func processOf(tid int) string {
	id := strconv.Itoa(tid)
	status, _ := os.ReadFile("/proc/" + id + "/status") // without it, the thread was killed
	if _, rest, ok := strings.Cut(string(status), "\nTgid:\t"); ok {
		id, _, _ = strings.Cut(rest, "\n")
	}
	return id
}

// deletedMark ends the text of a link below /proc whose file was removed.
const deletedMark = " (deleted)"

// isDeleted reports whether a link below /proc leads to a file that was removed.
func isDeleted(link, to string) bool {
	if !strings.HasPrefix(link, "/proc/") || !strings.HasSuffix(to, deletedMark) {
		return false
	}
	_, err := os.Lstat(to)
	return err != nil
}

// interpreters records the files that the kernel itself opens to run a program: the
// interpreter of a script, the interpreter of this one, and the loader of libraries.
func (b *book) interpreters(tid int, name string, current func() string) {
	for range 6 { // the kernel goes as far
		b.follows = maxFollows
		w := b.folder(tid, name)
		if w.lost {
			return
		}
		next := interpreter(w.path)
		if next == "" {
			return
		}
		if !strings.HasPrefix(next, "/") {
			next = current() + "/" + next
		}
		b.use(tid, []byte(next), executed, true)
		name = next
	}
}

// interpreter returns the interpreter that a program names, "" if it names none.
func interpreter(program string) string {
	fd, err := unix.Open(program, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0) // nothing to wait for
	if err != nil {
		return ""
	}
	file := os.NewFile(uintptr(fd), program)
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	head := make([]byte, 256)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	head = head[:n]
	if script, ok := strings.CutPrefix(string(head), "#!"); ok {
		line, _, _ := strings.Cut(script, "\n")
		line = strings.TrimLeft(line, " \t")
		if end := strings.IndexAny(line, " \t\x00"); end >= 0 {
			line = line[:end]
		}
		return line
	}
	return loader(file)
}
