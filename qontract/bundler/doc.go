// Package bundler makes a bundle from a checkout of a configuration repository. The
// bundle is the JSON file that qontract-server loads, and has the same bytes as the
// public bundler (qontract-bundler) writes. [Make] takes an [Input], which says
// where datafiles, resources, JSON schemas and GraphQL types are, and returns a
// [Bundled], which writes the JSON.
//
// The files come from a [Tree]: [Folder] is a folder on disk, [WorkTree] a folder
// that git knows, and [CommitTree] a commit, read from git's object store. All give
// the same bundle for the same files.
//
// # How files are read
//
// Datafiles and schemas are the files that end in .yml, .yaml or .json, at any
// depth. YAML is read as PyYAML's safe loader reads it, which is YAML 1.1: yes and
// no are booleans, 1:30 is ninety, 1e3 is text. Numbers keep their digits, and
// floats are written as Python writes them. An empty document is left out.
// Resources are all files, read as text. Files whose name begins with a dot are
// left out.
//
// # What is refused
//
// Everything that the public bundler cannot write is refused: dates, binary values,
// sets, infinity, keys that are lists, and text that is not UTF-8. Duplicate keys
// are refused too, although the public bundler accepts them: they are never meant.
// So are entries that are neither regular files nor links to a regular file of the
// same folder. Every [Problem] names file, line and column. All problems are found
// in one go, up to a hundred per file. Depth, size and aliases are bounded.
//
// # What is added
//
// Each datafile gets $file_sha256sum, the sha256 of its bytes. List items with
// unique fields, and datafiles to which list items refer, get an __identifier.
// The JSON schemas are extended to allow both. Resources get backrefs, which are
// the places that name them, sorted by path and then jsonpath.
//
// # Where to find what
//
//   - make.go: [Make] and its steps; definitions.go reads schemas and GraphQL types,
//     stage.go makes the records of all files of a section with several workers.
//   - record.go, datafile.go, resource.go: the record of one file; walker.go finds references
//     and list items with unique fields.
//   - yaml*.go, scalar.go, jsonreader.go: the full readers; quick*.go: a fast reader
//     for the usual subset of YAML.
//   - cache.go, pack.go: what is remembered between runs.
package bundler
