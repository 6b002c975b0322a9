// Package wrapper runs the tasks of a plan in parallel and returns one result per task.
//
// [Run] takes tasks and a [Runner]. [Process] is the Runner for tasks that are
// commands; native integrations have a Runner of their own.
//
// # Results
//
//   - Every task gets a result: it passed, failed, timed out, was canceled or was not
//     run. A failed task never stops another task, unless Options.FailFast is set.
//   - A task stops at its own timeout, or when the context is canceled. If the Runner
//     returns nil after that, the task has not passed all the same.
//   - A panic fails the task in which it happens. The stack goes to the task's log.
//   - A task whose log could not be kept completely fails.
//
// # Order
//
//   - Tasks with a lower order run first. A group of equal order starts when the group
//     before it has ended. Within a group the longest estimate starts first.
//   - Tasks that use the same [Target] wait for it, and hold no slot while they wait.
//     With a [Lease] they also wait for tasks of other processes. A task that loses
//     its lease is canceled.
//   - A target is unavailable after three tasks in a row failed there for transient
//     reasons. The tasks that still wait for it are then not run.
//
// # Second attempts
//
//   - An error line is transient if it matches a pattern of Options.Transient or a
//     built-in pattern for errors of networks and services. A line that may also come
//     from a mistake in the data matches no built-in pattern.
//   - A failure is transient if the task timed out, or if all error lines in its tail
//     are transient. A failure because of bad data or settings ([ConfigError]) never is.
//   - A task gets one second attempt, after a pause, if at least one error line is
//     transient. Each attempt has a log of its own. If the second attempt fails, the
//     task has failed. Options.Before asks for another attempt in a later run.
//
// # Logs
//
//   - All output is masked before it is stored: each secret of at least four bytes
//     becomes ***, and so do its encoded forms, such as base64 and URL encoding (package
//     internal/mask lists them).
//   - The complete log goes to the [LogStore]. The result holds its last twenty lines,
//     without terminal escapes and other control characters. A task without output has
//     no log.
//
// # Processes
//
// A command is an argument vector and never passes through a shell. Its environment is
// exactly the one given, and its standard input is empty. It runs in a process group
// of its own. At its timeout the group gets SIGTERM, and SIGKILL after the grace
// period. Processes that are left in the group when the command exits are killed.
// Placeholders such as {graphql_url} are replaced once, so a placeholder inside a value
// is not replaced. An unknown {word} stays as it is.
//
// What a command reads can be recorded, see Process.Reads. It then runs as it does without,
// but what leaves its process group ends with the task, at the latest after the grace period,
// and programs that need rights of their own (set-uid) do not get them.
//
// # Limits
//
//   - A child that leaves its process group (setsid) survives its task. The task does
//     not wait for it longer than the grace period; its later output is lost.
//   - On Linux the kernel kills a command when this process dies, unless the command is
//     setuid. It does not kill the children of the command: package runner/guard does
//     that for the command runner. On other systems commands survive when this process
//     is killed with SIGKILL.
//   - Outside of Unix there are no process groups, and only the command itself is killed.
//   - A secret that a program breaks by line breaks or escapes of its own is not masked
//     in the log. In the result it is masked, since the escapes are removed first.
//   - A Runner that ignores its context is left behind after Options.Abandon, because
//     Go cannot stop a goroutine. Its later output is dropped.
package wrapper
