// Package bundle holds one snapshot of a qontract configuration repository:
// it loads a bundle file, indexes it and compares two of them.
//
// A bundle is the JSON document that the qontract bundler writes: datafiles,
// resources, JSON schemas and GraphQL types, each by path, with the git commit
// they came from. Loading validates the JSON once and notes where every file
// begins and ends; a file is decoded when somebody looks inside. When a second
// bundle is opened [Like] a first one, files with the same bytes are shared
// between the two, so cost follows the change and not the size.
//
// What a user must know:
//
//   - The sha256 of a bundle is that of the file's bytes, as qontract-server
//     has it.
//   - Number literals are kept: 9007199254740993 is not 9007199254740992, and
//     1.0 is not 1.
//   - A change that only touches $file_sha256sum or __identifier is Metadata:
//     bundlers rewrite those in files that nobody edited. Inside a field whose
//     GraphQL type is json a query can read __identifier, so there it counts.
//   - A resource changes with its sha256sum or content; new backrefs alone are
//     no change of it, but are noted in Diff.Backrefs, since a query can read
//     them.
//   - A path that occurs twice, a datafile without $schema and a document that
//     is nested too deeply are errors: what cannot be read safely is not
//     planned on.
package bundle
