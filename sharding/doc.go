// Package sharding tells which shards an integration has when they are objects
// of the bundle: AWS accounts, clusters, OCM organizations.
//
// A strategy is a row of a table: the schema of the objects, the field that is
// the key, and the option that hands a key to the integration. An object that
// disables the integration (disable.integrations) is no shard of it.
//
// [Keys] is for a dry-run, which is given its shard as an option. [Specs] says what
// managed[].sharding of a definition deploys: one process for each shard, or several
// that share out the work by [Index]. An override with disabled: true leaves the
// process there without replicas, so that the shard is still one.
package sharding
