//go:build linux && amd64

package reads

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// callStop is the signal of a stop at the end of a call.
const callStop = unix.SIGTRAP | 0x80

// handleStop does what a stop is for, and lets the thread go on.
func (t *Tracer) handleStop(tid int, status unix.WaitStatus) {
	task := t.find(tid)
	request, pass := unix.PTRACE_CONT, unix.Signal(0)
	switch signal := status.StopSignal(); {
	case signal == callStop:
		t.endCall(tid, task)
	case status.TrapCause() > 0:
		request = t.handleEvent(tid, task, status.TrapCause())
	case signal == unix.SIGSTOP && !task.attached:
		task.attached = true // the kernel stops each new thread
	case isGroupStop(tid, signal):
		// A process that traces in this way cannot leave the group stopped.
	default:
		pass = signal
	}
	t.resume(tid, request, pass)
}

// isGroupStop reports whether a thread stopped because a signal stopped its process. Such a
// stop has no information about a signal.
func isGroupStop(tid int, signal unix.Signal) bool {
	switch signal {
	case unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
	default:
		return false
	}
	var info [128]byte
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_GETSIGINFO, uintptr(tid), 0,
		uintptr(unsafe.Pointer(&info)), 0, 0)
	return errno == unix.EINVAL
}

// handleEvent handles an event of the tracer. It returns how the thread goes on.
func (t *Tracer) handleEvent(tid int, task *task, event int) (request int) {
	switch event {
	case unix.PTRACE_EVENT_SECCOMP:
		task.making, task.relinks = t.handleCall(tid, task)
		if len(task.making) > 0 || task.relinks {
			return unix.PTRACE_SYSCALL // stop again at the end of the call
		}
	case unix.PTRACE_EVENT_FORK, unix.PTRACE_EVENT_VFORK, unix.PTRACE_EVENT_CLONE:
		child, err := unix.PtraceGetEventMsg(tid)
		if err != nil {
			break // killed meanwhile
		}
		if _, err := unix.Getpgid(int(child)); err == nil { // it may have ended already
			t.find(int(child))
		}
	case unix.PTRACE_EVENT_EXEC:
		if old, err := unix.PtraceGetEventMsg(tid); err == nil && int(old) != tid {
			t.remove(int(old)) // a thread becomes the process; the kernel does not tell its end
		}
		if why := t.gainsRights(tid); why != "" {
			t.book.doubt(why)
		}
	}
	return unix.PTRACE_CONT
}

// endCall looks at the result of a call that makes names or links. A call that failed made
// nothing.
func (t *Tracer) endCall(tid int, task *task) {
	making := task.making
	if task.relinks {
		t.book.forget()
	}
	task.making, task.relinks = nil, false
	if err := t.at.load(tid); err == nil && t.at.op == unix.PTRACE_SYSCALL_INFO_EXIT && t.at.args[0]&0xff == 0 {
		return
	}
	for _, e := range making {
		e.MadeFirst = false
		if _, isThere := kindOf(e.Name); isThere && !e.Seen && t.book.isShared(e.Name) {
			t.book.doubt("somebody else made a name at the moment when it did")
		}
	}
}

// handleCall records the call at which a thread stopped. It returns the entries that it
// makes first, and whether names may lead elsewhere after it.
func (t *Tracer) handleCall(tid int, task *task) (making []*entry, relinks bool) {
	if err := t.at.load(tid); err != nil {
		if !errors.Is(err, unix.ESRCH) {
			t.book.doubt("a call cannot be read")
		}
		return nil, false
	}
	if t.at.mark != nativeCall || t.at.number >= uint64(len(t.calls)) || t.calls[t.at.number] == nil {
		t.book.doubt("a program of another kind than amd64 ran")
		return nil, false
	}
	c, args := t.calls[t.at.number], t.at.args
	switch {
	case c.doubt != "":
		t.handleDoubt(tid, c, args)
		return nil, false
	case c.moves:
		defer func() { task.folder = task.folder[:0] }()
	}
	flags := args[c.flag]
	if c.flags == howFlags {
		var how [24]byte
		if !t.readAll(tid, args[c.flag], how[:]) {
			return nil, false
		}
		flags = binary.LittleEndian.Uint64(how[:])
		if binary.LittleEndian.Uint64(how[16:])&unix.RESOLVE_IN_ROOT != 0 {
			t.book.doubt("it opened a file below a root of its own")
		}
	}
	for i, path := range c.paths {
		name := t.name(tid, task, path, args)
		if name == nil {
			continue
		}
		u, follow := path.refine(c.flags, flags)
		if c.relinks {
			kind, isThere := kindOf(string(name))
			if kind != unix.S_IFDIR {
				u &^= moved
			}
			// The first path may also be a link that the call makes.
			relinks = relinks || kind == unix.S_IFLNK || kind == unix.S_IFDIR || i == 0 && !isThere
		}
		making = append(making, t.book.use(tid, name, u, follow)...)
		if u&executed != 0 {
			t.book.interpreters(tid, string(name), func() string {
				folder, _ := t.memory.folder(tid, unix.AT_FDCWD) // without it, the program does not run
				return string(folder)
			})
		}
	}
	return making, relinks
}

// handleDoubt handles a call with which a record may not be whole.
func (t *Tracer) handleDoubt(tid int, c *call, args [6]uint64) {
	switch c.number {
	case unix.SYS_CLONE3:
		var flags [8]byte
		if !t.readAll(tid, args[0], flags[:]) || t.staysInRecord(binary.LittleEndian.Uint64(flags[:])) {
			return
		}
	case unix.SYS_CLONE:
		if t.staysInRecord(args[0]) {
			return
		}
	case unix.SYS_SECCOMP:
		if args[0] != unix.SECCOMP_SET_MODE_FILTER || args[1]&unix.SECCOMP_FILTER_FLAG_NEW_LISTENER == 0 {
			return
		}
	}
	t.book.doubt(c.doubt)
}

// staysInRecord reports whether a new process or thread with these flags does not escape. It notes whether both
// have one current folder.
func (t *Tracer) staysInRecord(flags uint64) bool {
	if flags&unix.CLONE_FS != 0 && !t.sharesFolders {
		t.sharesFolders = true
		t.book.age++ // what is known of current folders does not hold any more
	}
	return flags&escapes == 0
}

// refine returns how a call with these flags uses a path, and whether it follows a link at
// the end of the path.
func (p pathArg) refine(kind flagsKind, flags uint64) (u use, follow bool) {
	u, follow = p.use, p.follow
	switch kind {
	case atFlags:
		follow = follow && flags&unix.AT_SYMLINK_NOFOLLOW == 0
	case linkFlags:
		follow = u&made == 0 && flags&unix.AT_SYMLINK_FOLLOW != 0
	case renameFlags:
		if flags&unix.RENAME_EXCHANGE != 0 {
			u = asked | wrote | moved // both names
		}
	case watchFlags:
		follow = flags&unix.IN_DONT_FOLLOW == 0
	case openFlags, howFlags:
		return refineOpen(flags)
	}
	return u, follow
}

// refineOpen is refine for a call that opens a file.
func refineOpen(flags uint64) (u use, follow bool) {
	const create, exclusive, truncate = unix.O_CREAT, unix.O_EXCL, unix.O_TRUNC
	follow = flags&unix.O_NOFOLLOW == 0 && flags&(create|exclusive) != create|exclusive
	switch {
	case flags&unix.O_PATH != 0 || flags&unix.O_TMPFILE == unix.O_TMPFILE:
		return asked, follow // it can neither read the file nor list the folder
	case flags&create != 0 && flags&(exclusive|truncate) != 0:
		return opened | wrote | made, follow
	case flags&unix.O_ACCMODE != unix.O_RDONLY || flags&(create|truncate) != 0:
		return opened | wrote, follow
	}
	return opened, follow
}

// kindOf returns what a name is, in the way of S_IFMT; a link is not followed.
func kindOf(name string) (kind uint32, isThere bool) {
	var info unix.Stat_t
	err := unix.Lstat(name, &info)
	return info.Mode & unix.S_IFMT, err == nil
}
