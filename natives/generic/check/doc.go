// Package check says before a merge what a change of the data would do to resources, without
// asking any service: the entries of base stand for what was applied and for what is there.
//
// The rules are those of base: its specifications and its overrides. A change that edits them
// is checked by the old ones, and a note says so. What is new on head, such as the first import
// of a specification, has no rules on base and is checked by those of head.
//
//   - A mistake that base has already is old. It is shown, and fails nothing.
//   - An entry is found again by the id of its resource, wherever its file is. An entry with
//     another id is another resource: the old one is an orphan.
//   - A create-only property that changes means delete and create. It is an error unless the
//     entry says allowReplace, and then a warning. If the class is only inferred, the message
//     says "probably", names the ground, and allowUpdate lifts it.
//   - protected is that of base: it is lifted by a change of its own.
//
// A pair of entries costs as much as their bodies are large. It has a bounded number of findings,
// among them one that fails if there is any.
//
// The check believes base. The online plan, which asks the service, may know better; both are
// shown.
package check
