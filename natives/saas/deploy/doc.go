// Package deploy makes the native saas-deploy: it deploys SaaS files.
//
// A shard is a cell, saas/environment: what one run of a pipeline deploys. It has a part for each
// namespace, whose objects carry the name of the saas file as their caller. The shard
// [Validation] has the mistakes of the data that belong to no cell.
//
//   - The desired state is that of the data alone ([saas.Model.CellState]): what branches point
//     to and what buckets and registries hold is no part of it, since no change alters it.
//   - A run asks which commits refs stand for, and renders the targets. A dry run of a change
//     renders both sides, says what the change alters in the objects, and compares those of head
//     with the clusters by reads alone, or lets the server try them if base allows it.
//   - The promotion gate closes a whole cell, since one run deploys all of it. A cell whose gate
//     is closed, or of which nobody knows it, is left alone.
//   - A target that cannot be rendered keeps its objects: nothing is deleted in its namespace.
//     The same holds for a namespace with a target that is disabled, because nobody knows which
//     objects belong to it.
//   - Objects of kinds without namespaces are never deleted.
//   - After a run of one cell that writes, all of its objects must work, also those that were
//     right before. Then, or if it failed, the records of promotions are written.
package deploy
