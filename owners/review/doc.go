// Package review decides about a merge request from what people wrote there, and writes the decision back: labels, a
// status of the head, and one note.
//
//	outcome, err := review.Run(ctx, review.Input{Forge: forge, Book: book, Head: head, Files: files})
//
// It fails closed. Labels that are no longer true go first; labels and the status are written only from a decision
// about the head and the words that the server has, which are read again before and after. After any error the labels
// and the status that let a change through are taken away. When nothing changed nothing is written.
//
// A word is about the version that the server had when it was written, or when its author edited it. An edit by
// somebody else, or by nobody knows whom, leaves of a comment what keeps the change back. What people said is kept as
// entries of [approvals.Book]; without them every word counts for its own version alone.
package review
