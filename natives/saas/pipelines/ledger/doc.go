// Package ledger keeps what the loop remembers: one document for each saas file.
//
//   - A document is read strictly. One that is damaged, or that a newer program wrote, holds its
//     saas file until a person looks at it: nothing starts, and nothing is overwritten. A copy
//     of a damaged one is set aside.
//   - A document has a generation. [Write] replaces the generation that was read and no other,
//     so of two loops that decide at once one writes, and the other does nothing ([ErrChanged]).
//   - A write whose answer was lost is not written again: the document names its writer.
package ledger
