// Package baseline decides whether a failure belongs to the change: it compares how
// a task failed on head with how the same task failed on base.
//
// # The same failure
//
// [Compare] reports the same failure only when nothing speaks against it:
//
//   - All runs ended by themselves, and their exit code, class and reason are equal.
//   - All logs are complete.
//   - The lines that count are the same on both sides, in the same order. Each stands
//     after the same INFO line.
//
// All lines count except those of level DEBUG, and INFO lines in which a dry run says what it
// would do: these differ from base by their nature. Programs say at level INFO why they fail,
// so other INFO lines count as all lines do. An INFO line also tells where the program is, so a
// line counts together with the nearest INFO line before it. If a failure says nothing but
// INFO, all its lines count.
//
// # What differs in every run
//
// Three things are replaced before lines are compared: values that the runner handed out,
// such as the address of a server; the time at the beginning of a line; and times within
// the span of the run.
//
// All other differences count unless they are noise. Noise is what differs between two
// runs on base, at that place, and within its own kind: a number, a time, or an id, which
// has digits and letters. Words are never noise. The order of lines is noise only where
// it differs between runs on base. Head cannot teach what is noise, so a change cannot hide
// what it breaks. For example, if the number in "gave up after 3 s" differs on base, every
// number there is the same failure. If it is 3 in both runs on base, 4 is another failure.
//
// The package runs nothing. [Comparison.Unclear] says that a further run on base may show
// that the differences are noise.
package baseline
