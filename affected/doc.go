// Package affected asks the rungs fields, state and shards about an integration
// whose desired state can be told: does it read a field that changed, does its
// desired state differ, and to which shards does the difference belong?
//
// [Comparison.Decide] asks the three rungs. A desired state comes from declared
// queries, from recorded queries, or from a native integration. For queries, the
// cost depends on the size of the change and not on the size of the bundle:
//
//   - Fields. The footprint of a query is a tree of positions. At each position,
//     every changed file is compared in the fields that the query reads there. A
//     reference is compared as a path, without the file that it leads to.
//   - State. From the files that differ, references are followed backwards along
//     the query, and synthetic fields in their own direction, to the root elements
//     that can see the change. Only these elements are evaluated, on both sides.
//     All others are the same in both bundles.
//   - Shards. The difference is attributed to shard keys, see [Attribute].
//
// The type of a field says nothing about the file that a reference leads to: any
// reference may lead to any file. An integration runs in full when something is in
// doubt: an answer has errors, one side rejects a query, keys cannot be used, or
// there are more affected keys than allowed. When GraphQL types or JSON schemas
// changed, both sides are evaluated as a whole.
package affected
