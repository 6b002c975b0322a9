// Package shellwords splits a command into words exactly as a POSIX shell
// would, and never runs it.
//
// It takes the part of the shell's language that only quotes: blanks between
// words, backslashes, single and double quotes (POSIX.1-2024, Shell Command
// Language, 2.2 Quoting and 2.3 Token Recognition). $name and ${name} outside
// single quotes become variables, which the caller fills in; unlike in a shell
// a value is never split or expanded. Whatever else a shell would act on, in
// POSIX or in bash, is an error that names it: operators, redirections,
// substitutions, patterns, tildes, braces, comments, assignments. So a command
// that is accepted means the same here and in a shell, and what does not is
// refused and never passed on by mistake.
package shellwords
