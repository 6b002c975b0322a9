// Package cli holds what the commands share: their environment as a value ([Env]), exit
// codes and error lines, flags, and the writing of files.
//
// A command's main is one line:
//
//	func main() { os.Exit(cli.Main("planner", run)) }
//
// Everything else can be tested through [Run], which takes the environment as an argument.
// A run function builds its tree of cobra commands and passes it to [Execute].
//
// # Exit codes
//
//   - [ExitOK]: the command did its work and found nothing wrong.
//   - [ExitFailed]: a check failed, and the printed report says which ([ErrFailed]).
//   - [ExitUsage]: flags, arguments or input are wrong ([Usage], [Invalid]).
//   - [ExitTrouble]: the command could not do its work (every other error).
//
// If errors with different codes are joined, the highest code counts.
//
// # Signals, pipes and panics
//
//   - The first SIGINT or SIGTERM cancels the context. Another signal, a second or more
//     later, ends the process at once.
//   - If the reader of stdout goes away (planner diff … | head), the command ends with
//     [ExitTrouble] and prints nothing.
//   - A panic becomes one line and [ExitTrouble]. The stack is printed if PRCHECK_DEBUG is
//     set. This covers only the goroutine of the command; code that starts another
//     goroutine must recover in it.
//   - Error messages may contain text from outside, so unprintable characters are removed
//     before an error is printed.
package cli
