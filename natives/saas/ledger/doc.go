// Package ledger keeps the promotion ledger: one book for each target, with what it ran and what people and loops said
// about its commits, with who and when.
//
//   - A book lies in the bucket of the records of promotions, where deployments, loops and people reach it. It is read
//     strictly, and each write replaces the version that was read and no other.
//   - [Book.Stay] says for how long a commit soaked at a target. A newer commit contains an older one, so the older one
//     goes on soaking; whoever goes back to an older commit marks what was undone as bad.
//   - [Book.Standing] says which words of people stand: rejections, pins, holds, promotions and retries. A rejection is
//     of one commit at one target, until a person takes it back.
//   - [Apply] adds the word of a person, if the settings of base let that person say it; else the refusal is noted.
//   - A book has the newest [MaxRuns] runs in full, and all words that stand. Older runs are folded to the time for
//     which a commit ran well.
//
// Times and orders of commits are arguments. What is not known counts nothing: a commit whose place in the history
// nobody knows stops the clocks of all others.
package ledger
