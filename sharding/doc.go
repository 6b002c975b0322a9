// Package sharding tells which shards an integration has when they are objects
// of the bundle: AWS accounts, clusters, OCM organizations.
//
// A strategy is a row of a table: the schema of the objects, the field that is
// the key, and the option that hands a key to the integration. An object that
// disables the integration (disable.integrations) is no shard of it.
package sharding
