// Package namespaces is a native integration that keeps the namespaces of clusters as the data
// say, as openshift-namespaces of qontract-reconcile does:
//
//   - Each entry of schema /openshift/namespace-1.yml is a namespace of its cluster, except
//     entries that say managedByExternal. A namespace that is missing is created. An entry
//     that says delete: true has its namespace deleted; afterwards the entry can be removed.
//   - A namespace that no entry names is never deleted: nobody knows whose it is. The dry run
//     of a change that removes an entry says so.
//   - Labels (and annotations, if the settings ask for them) that an entry names are set by
//     server-side apply. Others are left alone.
//   - Each cluster is a shard. A cluster that disables the integration, or has no token, is
//     told and left out.
//   - What it makes carries the mark of its instance, which the settings name. It never
//     changes a namespace with another mark or without one, unless the settings say adopt.
package namespaces
