// Package markdown puts foreign text into Markdown: names, paths, reasons and
// output that come from a merge request stay plain text, whatever is in them.
//
// What comes out neither ends a table cell, a code span or a fence, nor becomes
// HTML, a link, an image, emphasis or a block of its own. On GitLab it mentions
// nobody, refers to nothing (issues, merge requests, labels, commits, issues of
// other trackers), is no emoji, mathematics, table of contents or inline
// difference, and starts no quick action, not even for a bot that reads
// commands in code.
//
// # Awkward cases
//
// GitLab looks for references in the rendered text, where a backslash or an
// entity is gone. There a U+2060 (word joiner, invisible) stands between a sign
// and what it would be read together with. Characters that show nothing or
// reorder text are dropped, so the only joiners in a text are ours.
package markdown
