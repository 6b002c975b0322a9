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
// containers by their names, are compared item by item; their order counts for variables, which can
// use those before them, and for init containers. Of all other lists the length and each index
// count. A field whose value is empty (an empty text, 0, false) and that
// the server dropped is equal if the server says that it is ours.
//
// # Fields of others
//
// A field that the manifest has, and that another field manager owns with another value, is a
// mistake that names both. So is a field that differs and was ours after the last apply, although
// nobody owns it now: somebody removed it, or set a number of pods by the subresource scale, which
// does not always note a manager. So a Deployment that somebody paused stays paused. That it was the
// last apply is told by the digest; after a change of the manifest it is told of numbers of pods
// alone. Who undoes such a change by its value gives the field back: nothing differs, and one apply
// makes us an owner again. The other manager owns it as well then, so that the next change of the
// field names the settings that end this. Two settings change what happens. Managers of [Options.TakeFrom] hand over
// all their fields, once: these are the programs that applied the object before. Managers of [Options.Override] lose
// only the fields in which they differ: they are set by an update, which the server never refuses, and become ours.
//
// # Fields that cannot be changed
//
// A table of kind and field says what is done, see [Diff]: the object is replaced, or it is a
// mistake with its remedy. No setting replaces an object because of some other field.
package manifests
