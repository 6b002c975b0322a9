// Package wrapper runs a plan's tasks in parallel and keeps every result.
//
// [Run] takes tasks and a [Runner] and returns one result per task, in the order
// of the tasks. [Process] is the Runner for tasks that are commands; native
// integrations bring their own.
//
// # Rules
//
//   - Every task gets a result, whatever happens: it passed, failed, ran out of
//     time, was canceled or was not run. One red task never stops another.
//   - Tasks with a lower order run first; a group of equal order starts when the
//     one before has ended. Within a group the longest estimate starts first.
//   - Tasks that share a [Target] queue for it, and those that wait hold no slot.
//     With a [Lease] they queue with those of other processes, too; a task that
//     loses its targets is canceled. After three tasks in a row that failed at a
//     target for reasons that pass, what waits for it is not run.
//   - A task stops at its own timeout, or when the context is canceled. A task
//     that returns after either has not passed, even when it says so.
//   - A panic fails its own task; the stack goes to its log.
//   - A failure is transient when the task ran out of its time, or when every
//     error in its last lines is one that passes by itself: [Options.Transient]
//     and a short list of what networks and services say. What is not certain is
//     no such failure, and what the data or the settings are to blame for never
//     is.
//   - A failure with any such error gets one more attempt, after a pause. Each
//     attempt has a log of its own. One that fails again has failed, whatever its
//     class. [Options.Before] asks for another attempt later.
//   - All output passes a masker before it is stored anywhere: every secret of at
//     least four bytes is replaced by ***, also as base64 (alone or inside a
//     longer text, such as a basic-auth header, broken into lines, and in base64
//     once more), in hex, URL-encoded, escaped for JSON and HTML, and line by line
//     when it has several lines.
//   - The complete log goes to the [LogStore]; the result holds the last twenty
//     lines, without terminal escapes and other control characters. A task that
//     says nothing has no log.
//   - With FailFast nothing starts after the first result that fails the check.
//   - A task whose log could not be kept completely fails.
//
// # Processes
//
// A command is an argument vector and never passes a shell. Its environment is
// exactly the one given and its standard input is empty. It runs in a process
// group of its own: at the end of its time the group gets SIGTERM, after the
// grace period SIGKILL, and what a command leaves behind in its group when it
// exits is killed. Placeholders such as {graphql_url} are replaced in one pass,
// so a value is never expanded again; an unknown {word} stays as it is.
//
// # Awkward cases
//
// A child that leaves its process group (setsid) survives its task; it cannot hold
// us up, since its end of the output is given up after the grace period. On Linux
// the kernel kills a command when we die, however we die, unless it is setuid. It
// kills nothing that the command started; a program that wants that too has to see
// to it, as cmd/internal/guard does for runner. Elsewhere commands survive when we
// are killed with SIGKILL. Outside unix there are no process groups and only the command itself is
// killed. A secret that a program cuts with its own line breaks or escapes is not
// recognised in the log file; in the result it is, once the escapes are gone. A
// Runner that ignores its context is left behind after Options.Abandon and its
// later output is dropped, because Go cannot stop a goroutine.
package wrapper
