// Package reads records which files a command and its children use: which they open, list, ask
// for, also in vain, and run. It needs no privilege and covers static programs.
//
// The command runs under ptrace. Before its first instruction it gets a seccomp filter that
// stops it at calls that name files, and at no others. At such a stop [Tracer.Serve] reads the
// path and finds out where it leads. Children and threads inherit both. The calls of io_uring,
// which no filter sees, are refused with ENOSYS as on a kernel without them.
//
// # Names
//
//   - A name is kept if it is one of the given folders or below it, as the task wrote it or
//     with the links followed. It is told below the folder as that was given. Empty parts and
//     parts that are one dot are left out.
//   - A name that leads through a link is kept three times if all are below the folders: as it
//     was written, the link, and the name to which it leads. Only the last two are kept if the
//     name has a part that is two dots, because its text says nothing without the links.
//   - Names below /proc/self, /dev/fd and the like are told as what they lead to.
//   - What the kernel opens to run a program is told, too: the interpreter of a script and the
//     loader of libraries. What Start itself looked up in PATH is not.
//   - A folder that is opened counts as listed. A descriptor that can do neither (O_PATH) is
//     only asked for.
//   - MadeFirst needs a call that succeeded: creating and truncating or insisting on a new
//     file, mkdir, mknod, link, symlink, or being the target of rename.
//   - Seen tells of a name what was there at the first stop that uses it, just before the call.
//   - Of shared folders, in which others may write, the names are read at the stop at which the
//     task opens one, and files at the stop before the task changes them.
//   - What is used below a folder that was moved is told by its new name only. Moved tells the
//     old name of the folder.
//
// # A record that is not whole
//
// Partial says the first reason: changed mounts, roots or namespaces; a file opened without a
// name; a program of another processor (32-bit, x32); a debugger among the processes; a
// supervisor of calls; a set-uid program, which runs without its rights; memory or folders that
// cannot be read; too many names; a name that is too long to be followed; a process that left
// the group and was killed by Stop.
//
// # Limits
//
//   - Another thread may change a name between the stop and the call. A record is evidence
//     against mistakes, not against malice.
//   - Files that another process passes as descriptors are not seen, nor the paths of sockets,
//     nor what a process reads that the task did not start, such as a daemon that it asks.
//   - A process that is stopped by SIGSTOP or a terminal goes on at once.
//   - Where the starter may not install a filter freely, the command cannot gain rights
//     (no_new_privs), and set-uid programs that it runs do not have theirs.
//   - It works on Linux from 5.3 on amd64. Elsewhere Start returns an error.
package reads
