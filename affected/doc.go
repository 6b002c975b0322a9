// Package affected climbs rungs 3 to 5 of the ladder for one integration whose
// desired state can be told: does it read a field that changed, does its
// desired state differ, and to which shards does the difference belong?
//
// A desired state comes from the integration's declared queries or from a
// native integration. For queries, cost follows the change and not the bundle:
//
//   - Fields. A query's footprint is a tree of positions. Each changed file is
//     compared at each position, by what the query reads of it there, with
//     references opaque.
//   - State. From the files that differ, references are followed backwards
//     along the query, synthetic fields in their own direction, to the root
//     elements that can see them. Those alone are evaluated, on both sides.
//     Everything else is the same in both bundles.
//   - Shards. What differs is attributed to shard keys, see [Attribute].
//
// Nothing here relies on a field's type to tell what a reference leads to: any
// reference may lead to any file. Whatever is in doubt makes the integration
// run in full: an answer with errors, a query that one side rejects, GraphQL
// types or JSON schemas that changed (then both sides are evaluated as a
// whole), keys that cannot be used, more keys than allowed.
package affected
