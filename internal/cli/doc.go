// Package cli is everything the commands share: the world handed to them as a
// value, how their errors become exit codes and lines on stderr, and how they
// write files.
//
// A command's main is one line:
//
//	func main() { os.Exit(cli.Main("planner", run)) }
//
// Everything else can be tested through [Run], which takes the world as an
// argument. A run function builds its cobra tree and hands it to [Execute].
//
// # Exit codes
//
// [ExitOK] all good; [ExitFailed] a check failed, and the report that was
// printed says which ([ErrFailed]); [ExitUsage] wrong flags, arguments or
// input ([Usage], [Invalid]); [ExitTrouble] the tool could not do its work
// (every other error). When errors of several kinds are joined, the highest
// code counts.
//
// # Awkward cases
//
// Text from outside ends up in error messages, so everything that is not
// printable is replaced before it reaches a terminal. When the reader of
// stdout goes away (planner diff … | head) the command ends with
// [ExitTrouble] and without a word. The first SIGINT or SIGTERM cancels the
// context; a second one ends the process at once. A panic becomes one line and
// [ExitTrouble]; its stack is printed when PRCHECK_DEBUG is set. Only the
// goroutine of the command is covered: whoever starts another one recovers
// there.
package cli
