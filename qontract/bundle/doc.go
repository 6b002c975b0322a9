// Package bundle holds one snapshot of a qontract configuration repository. It loads a
// bundle file, indexes it, and compares two bundles.
//
// A bundle is the JSON document that the qontract bundler writes. It contains datafiles,
// resources, JSON schemas and GraphQL types, each file under its path, and the git commit
// they come from. Loading validates the JSON once and records where every file begins and
// ends. A file is decoded when its content is first needed. [Open] can reuse another
// bundle: files that have the same bytes in both are then shared, so the cost follows the
// size of the change and not the size of the bundle.
//
// Rules that a user must know:
//
//   - The sha256 of a bundle is the sha256 of the file, as in qontract-server.
//   - Numbers are kept as they are written: 9007199254740993 is not 9007199254740992, and
//     1.0 is not 1.
//   - A change that only touches $file_sha256sum or __identifier has the kind Metadata,
//     because bundlers rewrite these keys in files that nobody edited. There are two
//     exceptions: inside a field of the GraphQL type json a query can read __identifier, so
//     a change there counts. And beside $ref it decides whether the object is a reference.
//   - A resource changes with its sha256sum or its content. A resource in which only the
//     backrefs differ is not listed as changed, but in Diff.Backrefs, because a query can
//     read them.
//   - A path that occurs twice, a datafile without $schema and a document that nests too
//     deeply are errors. A bundle that cannot be read safely must not be planned on.
package bundle
