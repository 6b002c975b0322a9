// Package native makes an integration out of three functions: what the data say, what is
// there, and how a thing is written. The rest is done here, the same way for every
// integration: the dry run, the desired state that can prove that nothing is to do, shards,
// owners, the gate on deletions, the order, and the memory of what was made.
//
// See [Recipe], and docs/natives.md for a complete integration on one page.
//
//   - A dry run and a run make their plans by the same code ([reconcile.Make]). A dry run
//     gets nothing that writes.
//   - The work has parts. A part is what one shard does at one target, such as a cluster. A
//     part that cannot be read is an error of its own; the other parts go on.
//   - In the dry run of a change, a target is asked only if base has the same target with
//     the same address and the same secret. Otherwise a change could send a secret to any
//     address.
//   - A finding that the data of base have as well is old, and fails nothing.
package native
