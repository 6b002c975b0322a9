// Package shellwords splits a command line into words exactly as a POSIX shell would. It
// never runs the command.
//
// It accepts the part of the shell's language that only quotes: blanks between words,
// backslashes, single and double quotes (POSIX.1-2024, Shell Command Language, 2.2 Quoting
// and 2.3 Token Recognition). $name and ${name} outside single quotes become variables,
// which the caller replaces by values. Unlike in a shell, a value is never split or
// expanded.
//
// Everything else that a POSIX shell or bash would act on is an error that names it:
// operators, redirections, substitutions, patterns, tildes, braces, comments and
// assignments. So a command that is accepted means the same here and in a shell.
package shellwords
