// Package content finds what a change does to the content of files: the changed files of two bundles, each with its
// differences by place.
//
// Awkward cases:
//
//   - The path, the schema and the sum of a datafile are no content.
//   - A resource is a mapping if its text is one of JSON or YAML; every other text is one value.
//   - A file of another schema is another file: the old one is removed, the new one is added.
//   - A move is the removal of one file and the addition of another; both know each other.
//   - A file whose content is the same, but whose text is not, has one difference of the kind text, with no place.
package content
