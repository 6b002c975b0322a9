// Package forge is a merge request of GitLab as [review.Run] reads and writes it.
//
// Versions are those of GitLab, with its time of each. Who edited a comment GitLab tells in GraphQL alone, which is
// asked if a comment with words changed after it was written; where it does not tell, the comment counts as edited by
// nobody knows whom. An approval by the button is a /lgtm from the time that GitLab notes for it, for as long as it
// stands. The description is a comment of the author; GitLab notes who changed it.
//
// The note is one of the user of the token with a marker of its own, and is published by [ci.Client.Publish], which
// keeps one of several. A status that stands in several pipelines of the head is changed in all of them.
package forge
