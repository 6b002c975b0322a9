// Package manifests compares objects of Kubernetes with what they should be, and applies them:
// what natives that keep objects on clusters share.
//
// A manifest is an object as it should be: what is applied, without a status. It is applied by
// server-side apply, never by force. The annotation of [DigestAnnotation] has the digest of the
// manifest that was applied last, so that a field which the manifest no longer has is noticed
// without a request that writes.
//
// # Equal
//
// [Diff] decides by one reading of an object whether something must be written. Every field of
// the manifest must be in the object with the same value; what the server or others added is
// left alone. Quantities are compared as numbers. Lists whose items have a key, such as
// containers by their names, are compared item by item in any order; of all other lists the
// length and each index count. Another order in the manifest is written by the next apply, because
// the digest differs; another order that somebody else made is left alone. A field whose value is empty (an empty text, 0, false) and that
// the server dropped is equal if the server says that it is ours.
//
// # Fields of others
//
// A field that the manifest has, and that another field manager owns with another value, is a
// mistake that names both: somebody who scaled a Deployment to 0 paused it. Two settings change
// this. Managers of [Options.TakeFrom] hand over all their fields, once: these are the programs
// that applied the object before. Managers of [Options.Override] lose only the fields in which
// they differ: they are set by an update, which the server never refuses, and become ours.
//
// # Fields that cannot be changed
//
// A table of kind and field says what is done, see [Diff]: the object is replaced, or it is a
// mistake with its remedy. No setting replaces an object because of some other field.
package manifests
