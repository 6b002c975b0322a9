// Package connect connects the natives of prcheck with the services that they ask beside clusters, buckets and APIs:
// repositories, registries, builds, measurements and the forge.
package connect
