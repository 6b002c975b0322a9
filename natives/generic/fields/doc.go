// Package fields reads who manages which fields of an object of Kubernetes, and what that
// means for a plan (server-side apply, metadata.managedFields).
//
// The API server notes the manager of each field that was set. A manager that changes or
// removes a field takes it away from all others. Two things follow:
//
//   - A field that was applied by us, that the data have as it was applied, and that is still
//     ours, was changed by nobody. If it looks different, the server spells it in its own way:
//     it fills in defaults inside of lists that are one value, writes 0.5 as 500m, and leaves
//     out an empty text. [Managers.Settle] shows such a field as the data have it.
//   - A field that another manager has, that would change, and that we never applied is
//     contested. It is left as it is: [Managers.Contested] finds it, with the manager's name.
//     A field that we applied before is ours by the state, and is taken back.
//
// What the server says is untrusted: an object without managers, or with fields that cannot be
// read, has none, and everything is compared as it is.
package fields
