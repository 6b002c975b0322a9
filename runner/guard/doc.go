// Package guard makes sure that no process that a command started outlives the command,
// even if the command is killed with SIGKILL.
//
// On Linux two processes of the same program share the work. The guard is the process
// that the user started. It starts the worker, which does the work, and waits for it.
// Both are subreapers (PR_SET_CHILD_SUBREAPER): a process below them whose parent dies
// becomes their child, so that they can reach every process that was ever started.
//
//   - When the worker ends, for any reason, the guard kills all processes that it left.
//   - When the guard dies, a pipe that only the guard holds open is closed. The worker
//     then starts nothing more, kills all processes below it, and kills itself.
//   - The command can hold a file, for example one with a lock. It is open in both
//     processes, so a lock is released only when both are gone.
//   - The work has a private folder for temporary files, such as config files with
//     secrets. The guard removes it when the worker has ended, and the worker when the
//     guard dies.
//
// The worker has a process group of its own, so that a signal to the command's group
// reaches only the guard. If the signal asks the command to stop, the guard passes it on.
//
// Limits: if both processes are killed with SIGKILL at the same moment, nobody kills the
// rest, and the private folder stays until the next run of this user removes it: it is locked
// as long as its guard lives. If the kernel cannot end a process, which may wait for a broken disk, the guard
// waits for it. On other systems than Linux the command does the work itself, and its
// processes may outlive it.
package guard
