// Package approvals remembers what somebody approved as content: a place of a file, by the identity of list items, with
// digests of its value in base and in head. An approval holds for any commit as long as the place and both values are
// the same, so a rebase or an unrelated push keeps it, and a related one loses it, with a reason.
//
// A word is about the version of the change that the server had when it was written. A version that came less than ten
// seconds before the word may not be the one that was read: the word then counts only for places that are the same in
// the version before, unless it names a commit.
//
// Entries only keep approvals: without them every word counts for its own version alone. They approve nothing by
// themselves, since the people of a place are always those whom base names now.
package approvals
