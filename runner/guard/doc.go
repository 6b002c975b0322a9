// Package guard sees to it that no process outlives a command that starts
// programs, also when the command is killed with SIGKILL.
//
// On Linux the work is done in a second process, the worker, which the first one,
// the guard, starts and waits for. Both adopt what loses its parent below them
// (PR_SET_CHILD_SUBREAPER), so that everything that was ever started stays within
// reach:
//
//   - When the worker ends, however it ends, the guard kills what it left behind.
//   - When the guard ends, a pipe that only it holds open ends. The worker then
//     starts nothing more, kills all that it started, and at last itself.
//   - A file that the command holds, such as one with a lock, is open in both. So a
//     lock is free when the last process is gone, and not before.
//
// The worker has a process group of its own, so that a signal to the command's
// group ends the guard alone. A signal that asks the command to stop is handed on.
//
// When both are killed with SIGKILL at the same moment, nobody is left to clean
// up. A process that the kernel cannot kill (it waits for a dead disk, say) is
// waited for. Elsewhere than on Linux the work is done by the command itself, and
// nothing is promised.
package guard
