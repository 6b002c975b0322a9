// Package reconcile makes the world as the data say, for things of any kind: it finds out what
// to do, who may do it and in which order, and does it. It knows no GraphQL, no HTTP and no
// Kubernetes.
//
// An integration needs three functions of its own:
//
//	desired  what should be: [Item] values, from the data
//	current  what is: [Thing] values, from the system
//	compare  how a thing differs from its item
//
// [Make] takes these and returns a [Plan]: one [Step] for each item and each thing, with the
// reason, and findings for people. It is a pure function: the same input gives the same plan,
// and nothing is asked or written. A dry run is the plan and nothing else, so it cannot write.
// A wet run gives the same plan to [Execute], with a [Doer] that can write.
//
// # Owners
//
// Several instances of an integration may work on one system. Each has a key of its own, the
// caller, and marks what it makes with the name of the integration and its caller. [Owner]
// judges a mark: a thing without a mark is never touched, a thing of another integration is
// skipped in silence, a thing of another living caller is an error if it is desired here, and
// a thing of a caller that no longer exists is taken over by the caller that desires it. Doubt
// never takes over. Execute reads each thing again before it writes, and judges again; the
// write is conditional on this reading.
//
// A [Mark] is written where it can be: as annotations and a label of an object of Kubernetes
// ([Mark.Annotations], [Mark.Labels]), or as tags in a cloud ([Mark.Tags]).
//
// # Deletions
//
// How a thing is found that the data no longer name depends on the [Class] of the integration.
// An item with Delete says that its thing must go; after that the entry can be removed from the
// data. All deletions of a plan pass a [Gate] together: if reading was not complete, if nothing
// is desired, or if there are too many, then none is done, and the dry run says so.
//
// # Order
//
// An item comes after the items that it needs, a deletion after everything that uses the thing.
// Steps that do not need each other run at once. If a step fails, only the steps that need it
// are not run: a step that only comes after it ([Item] After) goes on. [Options] Settle waits
// after each wave until what was written works.
package reconcile
