// Package markdown writes foreign text into Markdown so that it stays plain text: names,
// paths, reasons and output that come from a merge request.
//
// The text cannot end a table cell, a code span or a fence. It cannot become HTML, a link,
// an image, emphasis or a block. On GitLab it mentions nobody and refers to nothing
// (issues, merge requests, labels, commits, issues of other trackers). It becomes no
// emoji, formula, table of contents or inline diff. It starts no quick action, not even
// for a bot that reads commands in code.
//
// GitLab looks for references in the rendered text, in which backslashes and entities are
// gone. So an invisible U+2060 (word joiner) is put between a character such as # and the
// text that would make it a reference. Invisible characters and characters that reorder
// text are dropped from the foreign text, so every joiner in the result is ours.
package markdown
