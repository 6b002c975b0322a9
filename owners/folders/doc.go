// Package folders says who may approve files outside of the bundle: the approvers in the OWNERS files of base, from the
// folder of a file up to the root.
//
// A name in an OWNERS file is that of a person or of a group of the forge, or an alias of OWNERS_ALIASES in the root.
// An OWNERS file that cannot be read names nobody, and is told. A file is one place: whoever approves it approves its
// whole text, and the approval holds as long as the text of both sides is the same.
package folders
