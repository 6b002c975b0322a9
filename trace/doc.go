// Package trace remembers what an integration asked while it passed.
//
// A [Trace] lists every request that a task sent to its endpoint, each with a
// digest of the answer. A deterministic program that gets the same answers does
// the same again: so when every recorded request has on a new head the very
// answer that was recorded, the program would see the world in which it passed,
// and need not run ([Trace.Proves]). That holds for programs in any language,
// and whatever happened to base since.
//
// What a user must know:
//
//   - A trace speaks for one integration, started with one command (argument
//     vector, configuration, environment, image) for one shard. For any other it
//     says nothing.
//   - Answers are compared to the byte, errors included. A request for base is
//     answered over base, one for head over head, and one for a bundle that was
//     both over both.
//   - The addresses that name a bundle (/sha256, /git-commit…) are not compared:
//     clients use them to find the bundle they ask. Everything else that is no
//     GraphQL, such as /diff, makes a trace prove nothing, and so does a task
//     that asked nothing at all.
//   - What a program reads elsewhere (a live service, the clock) is not in its
//     trace. Integrations whose dry-run depends on that belong to always_run, or
//     get no trace with `trace: none`.
//   - A document that is cut short or edited is set aside, one of another version
//     is left as it is; neither is used.
package trace
