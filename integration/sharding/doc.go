// Package sharding tells which shards an integration has, as managed[].sharding of
// its definition deploys it: one for each AWS account, cluster or OCM organization
// of the bundle, or several static ones that share out the work by number.
//
// A strategy is a row of a table: the schema of the objects, the field that is
// the key, and the option that hands a key to the integration. An object that
// disables the integration (disable.integrations) is no shard of it.
//
// [Specs] says what one element of managed deploys: one process for each shard, or
// several that share a part by [Index]. [Divide] makes of that what a dry-run needs:
// the shards of all elements on both sides of a change, each with the image and the
// number of static shards of its override. An override with disabled: true leaves
// the process there without replicas, so the shard is still one and still checked.
package sharding
