// Package trace remembers the requests of tasks that passed, and proves with them that a
// task would pass again.
//
// A [Trace] lists every request that a task sent to its endpoint, each with a digest of
// the answer. A deterministic program that gets the same answers does the same again. So
// if every recorded request still has the recorded answer, the program would see
// exactly what it saw when it passed, and need not run ([Trace.Proves]). That holds for
// programs in any language, and also after base has moved on.
//
//   - A trace is valid for one integration, one command (argument vector, configuration,
//     environment, image) and one shard ([TaskKey]).
//   - Answers are compared byte by byte, errors included. A request for base is compared
//     with the answer of base, and a request for head with that of head. If base and head
//     were the same bundle, the request is compared with both.
//   - Requests to addresses that only name the bundle (/sha256, /git-commit…) are not
//     compared, since clients use them to find the bundle. A request to another address
//     that is not GraphQL, such as /diff, makes the trace prove nothing. A trace without
//     requests proves nothing either.
//   - A trace does not cover what a program reads from elsewhere, such as a live service or
//     the clock. Integrations whose dry-run depends on that should be always_run, or have
//     `trace: none`.
//   - A trace that is cut short or edited is not used and is set aside. A trace of another
//     version is not used and stays as it is.
package trace
