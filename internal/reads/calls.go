//go:build linux && amd64

package reads

import "golang.org/x/sys/unix"

// A use is a set of ways in which a name is used.
type use uint8

const (
	opened use = 1 << iota
	executed
	asked
	wrote
	made    // the call makes the name, if it succeeds
	moved   // the call moves the folder away
	removed // the call takes the name away
)

// A flagsKind says what the flags of a call mean.
type flagsKind uint8

const (
	noFlags     flagsKind = iota
	atFlags               // AT_SYMLINK_NOFOLLOW and AT_EMPTY_PATH
	linkFlags             // AT_SYMLINK_FOLLOW and AT_EMPTY_PATH
	openFlags             // O_CREAT and so on
	howFlags              // the address of an open_how
	watchFlags            // IN_DONT_FOLLOW
	renameFlags           // RENAME_EXCHANGE
)

// none says that a call has no such argument: a path without the descriptor of a folder is
// relative to the current folder.
const none = -1

// A pathArg is a path among the arguments of a call.
type pathArg struct {
	use    use
	dir    int  // the index of the descriptor of the folder to which the path is relative
	path   int  // the index of the path
	follow bool // the call follows a link at the end of the path
}

// A call describes one system call that names files, or that a record cannot cover.
type call struct {
	number int
	paths  []pathArg
	flags  flagsKind
	flag   int // the index of the flags
	// relinks says that the call changes links or moves folders, if a path is one.
	relinks bool
	moves   bool   // the call changes the current folder
	doubt   string // why a record with this call is not whole; "" if it is
}

// follow describes a call with one path that follows links. The path is the first argument,
// relative to the current folder.
func follow(number int, u use) call {
	return call{number: number, paths: []pathArg{{u, none, 0, true}}}
}

// nofollow is like follow for a call that does not follow a link at the end of the path.
func nofollow(number int, u use) call {
	return call{number: number, paths: []pathArg{{u, none, 0, false}}}
}

// at describes a call whose first arguments are the descriptor of a folder and a path, and
// whose flags are of this kind at this index.
func at(number int, u use, kind flagsKind, flag int) call {
	return call{number: number, paths: []pathArg{{u, 0, 1, true}}, flags: kind, flag: flag}
}

// atNofollow is like at for a call without flags that does not follow links.
func atNofollow(number int, u use) call {
	return call{number: number, paths: []pathArg{{u, 0, 1, false}}}
}

// doubtful describes a call with which a record is not whole.
func doubtful(number int, why string) call { return call{number: number, doubt: why} }

// tracedCalls lists all calls at which a task stops.
func tracedCalls() []call {
	all := append(readingCalls(), changingCalls()...)
	return append(all, doubtfulCalls()...)
}

// readingCalls lists the calls that open, run and ask for files.
func readingCalls() []call {
	return []call{
		{number: unix.SYS_OPEN, paths: []pathArg{{opened, none, 0, true}}, flags: openFlags, flag: 1},
		at(unix.SYS_OPENAT, opened, openFlags, 2),
		at(unix.SYS_OPENAT2, opened, howFlags, 2),
		follow(unix.SYS_EXECVE, executed),
		at(unix.SYS_EXECVEAT, executed, atFlags, 4),
		follow(unix.SYS_STAT, asked),
		nofollow(unix.SYS_LSTAT, asked),
		at(unix.SYS_NEWFSTATAT, asked, atFlags, 3),
		at(unix.SYS_STATX, asked, atFlags, 2),
		follow(unix.SYS_ACCESS, asked),
		at(unix.SYS_FACCESSAT, asked, noFlags, 0),
		at(unix.SYS_FACCESSAT2, asked, atFlags, 3),
		nofollow(unix.SYS_READLINK, asked),
		atNofollow(unix.SYS_READLINKAT, asked),
		{number: unix.SYS_CHDIR, paths: []pathArg{{asked, none, 0, true}}, moves: true},
		{number: unix.SYS_FCHDIR, moves: true},
		follow(unix.SYS_STATFS, asked),
		follow(unix.SYS_GETXATTR, asked),
		nofollow(unix.SYS_LGETXATTR, asked),
		follow(unix.SYS_LISTXATTR, asked),
		nofollow(unix.SYS_LLISTXATTR, asked),
		at(unix.SYS_GETXATTRAT, asked, atFlags, 2),
		at(unix.SYS_LISTXATTRAT, asked, atFlags, 2),
		at(unix.SYS_FILE_GETATTR, asked, atFlags, 4),
		{number: unix.SYS_QUOTACTL, paths: []pathArg{{asked, none, 1, true}}},
		follow(unix.SYS_USELIB, opened),
		follow(unix.SYS_SWAPOFF, asked),
		{number: unix.SYS_INOTIFY_ADD_WATCH, paths: []pathArg{{asked, none, 1, true}}, flags: watchFlags, flag: 2},
		{number: unix.SYS_FANOTIFY_MARK, paths: []pathArg{{asked, 3, 4, true}}},
		{number: unix.SYS_NAME_TO_HANDLE_AT, paths: []pathArg{{asked, 0, 1, false}}, flags: linkFlags, flag: 4},
	}
}

// changingCalls lists the calls that make, change, move and remove files.
func changingCalls() []call {
	old, target := asked|wrote|moved|removed, wrote|made
	return []call{
		follow(unix.SYS_CREAT, opened|wrote|made),
		nofollow(unix.SYS_MKDIR, wrote|made),
		atNofollow(unix.SYS_MKDIRAT, wrote|made),
		nofollow(unix.SYS_MKNOD, wrote|made),
		atNofollow(unix.SYS_MKNODAT, wrote|made),
		nofollow(unix.SYS_RMDIR, asked|wrote|removed),
		{number: unix.SYS_UNLINK, paths: []pathArg{{asked | wrote | removed, none, 0, false}}, relinks: true},
		{number: unix.SYS_UNLINKAT, paths: []pathArg{{asked | wrote | removed, 0, 1, false}}, relinks: true},
		{number: unix.SYS_RENAME, paths: []pathArg{{old, none, 0, false}, {target, none, 1, false}}, relinks: true},
		{number: unix.SYS_RENAMEAT, paths: []pathArg{{old, 0, 1, false}, {target, 2, 3, false}}, relinks: true},
		{number: unix.SYS_RENAMEAT2, paths: []pathArg{{old, 0, 1, false}, {target, 2, 3, false}},
			flags: renameFlags, flag: 4, relinks: true},
		{number: unix.SYS_LINK, paths: []pathArg{{asked, none, 0, false}, {target, none, 1, false}}, relinks: true},
		{number: unix.SYS_LINKAT, paths: []pathArg{{asked, 0, 1, false}, {target, 2, 3, false}},
			flags: linkFlags, flag: 4, relinks: true},
		{number: unix.SYS_SYMLINK, paths: []pathArg{{target, none, 1, false}}, relinks: true},
		{number: unix.SYS_SYMLINKAT, paths: []pathArg{{target, 1, 2, false}}, relinks: true},
		follow(unix.SYS_ACCT, opened|wrote),
		follow(unix.SYS_SWAPON, opened|wrote),
		follow(unix.SYS_TRUNCATE, asked|wrote),
		follow(unix.SYS_CHMOD, asked|wrote),
		at(unix.SYS_FCHMODAT, asked|wrote, noFlags, 0),
		at(unix.SYS_FCHMODAT2, asked|wrote, atFlags, 3),
		follow(unix.SYS_CHOWN, asked|wrote),
		nofollow(unix.SYS_LCHOWN, asked|wrote),
		at(unix.SYS_FCHOWNAT, asked|wrote, atFlags, 4),
		follow(unix.SYS_UTIME, asked|wrote),
		follow(unix.SYS_UTIMES, asked|wrote),
		at(unix.SYS_FUTIMESAT, asked|wrote, noFlags, 0),
		at(unix.SYS_UTIMENSAT, asked|wrote, atFlags, 3),
		follow(unix.SYS_SETXATTR, asked|wrote),
		nofollow(unix.SYS_LSETXATTR, asked|wrote),
		follow(unix.SYS_REMOVEXATTR, asked|wrote),
		nofollow(unix.SYS_LREMOVEXATTR, asked|wrote),
		at(unix.SYS_SETXATTRAT, asked|wrote, atFlags, 2),
		at(unix.SYS_REMOVEXATTRAT, asked|wrote, atFlags, 2),
		at(unix.SYS_FILE_SETATTR, asked|wrote, atFlags, 4),
	}
}

// doubtfulCalls lists the calls after which names mean something else, or processes escape.
func doubtfulCalls() []call {
	const mounts = "it changed what is mounted"
	return []call{
		doubtful(unix.SYS_OPEN_BY_HANDLE_AT, "it opened a file without a name"),
		doubtful(unix.SYS_CHROOT, "it changed its root"),
		doubtful(unix.SYS_PIVOT_ROOT, "it changed its root"),
		doubtful(unix.SYS_MOUNT, mounts),
		doubtful(unix.SYS_UMOUNT2, mounts),
		doubtful(unix.SYS_MOVE_MOUNT, mounts),
		doubtful(unix.SYS_MOUNT_SETATTR, mounts),
		doubtful(unix.SYS_OPEN_TREE, mounts),
		doubtful(unix.SYS_OPEN_TREE_ATTR, mounts),
		doubtful(unix.SYS_FSOPEN, mounts),
		doubtful(unix.SYS_FSPICK, mounts),
		doubtful(unix.SYS_SETNS, "it entered another namespace"),
		doubtful(unix.SYS_PTRACE, "it traced a process itself"),
		// The doubt in these calls depends on their flags.
		doubtful(unix.SYS_UNSHARE, escaped),
		doubtful(unix.SYS_CLONE, escaped),
		doubtful(unix.SYS_CLONE3, escaped),
		doubtful(unix.SYS_SECCOMP, "it let another process answer its calls"),
	}
}

// escaped is the doubt when a process enters a new namespace of files or processes, or
// would not be traced.
const escaped = "a process entered a new namespace or left the record"

// escapes are the flags of clone and unshare that make the doubt.
const escapes = unix.CLONE_NEWNS | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_UNTRACED
