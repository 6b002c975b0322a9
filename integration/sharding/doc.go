// Package sharding determines the shards of an integration from managed[].sharding of its
// definition: one shard per AWS account, cluster or OCM organization of the bundle, or a
// number of static shards that divide the work by a hash.
//
// A table describes each strategy: the schema of the objects, the field with the key, and
// the option that passes a key to the integration. An object that disables the
// integration (disable.integrations) is no shard.
//
// The objects come from a [Source]: a bundle ([InBundle]), or the answers of queries ([Ask]) for
// native integrations, which have nothing else. The same code divides by both, and a law says
// that both give the same shards.
//
// [Specs] returns the processes that one element of managed deploys: one per shard, or
// several static shards per shard. [ListParts] returns what a dry-run needs: the shards
// of all elements on both sides of a change, each with its image and its number of static
// shards. A shard whose override has disabled: true is deployed without replicas, and is
// still checked.
package sharding
