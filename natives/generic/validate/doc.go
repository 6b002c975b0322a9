// Package validate finds the mistakes of the body of a resource: what its schema does not
// allow, and what nobody may set.
//
// A body is compared with the schema of the request that sends it, and with the classes of
// its properties. Each mistake is a [Violation] with a code, a JSON pointer and a sentence that
// says what to do. Three rules keep it from refusing what a service takes:
//
//   - A schema is read along the body only, and what it does not describe is not checked.
//   - null is always allowed: it clears a property. A required property must not be cleared.
//   - What is unsure is a warning: a value that is not among those of an enumeration which its
//     author calls open, a variant that no field names, and a list that is too short where items
//     of others count as well.
//
// Regular expressions come from the specification. Those that RE2 cannot read are not
// checked, and a note says so.
//
// A walk costs as much as the body is large. It ends when who asked knows enough: a [List] keeps
// the first mistakes and one that fails, if there is any.
//
// No finding shows the value of a secret. Several goroutines may use a [Checker] that
// has a lock.
package validate
