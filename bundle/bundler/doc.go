// Package bundler turns a checkout of a configuration repository into the
// bundle that qontract-server loads, byte for byte as the public bundler
// (qontract-bundler) writes it: [Bundle] takes an [Input], which says where
// datafiles, resources, JSON schemas and GraphQL types are, and writes JSON.
//
// A [Tree] gives the files: [Folder] those of a folder, [CommitTree] those of a
// commit, straight from git's object store. Both give the same bundle for the same
// files.
//
// # What is read how
//
// Datafiles and schemas are the files that end in .yml, .yaml or .json and do
// not begin with a dot, at any depth. YAML is read as PyYAML's safe loader
// reads it (YAML 1.1: yes and no are booleans, 1:30 is ninety, 1e3 is text),
// with a parser that knows where each value stands. Numbers keep their digits,
// and floats are written as Python writes them. An empty document is dropped.
// Resources are all files that do not begin with a dot, as text.
//
// # What is refused
//
// Whatever the public bundler cannot write either (dates, binary values,
// sets, infinity, keys that are lists, text that is no UTF-8), and what it
// reads in silence although it cannot be meant: duplicate keys. Files that are
// neither regular nor a link to a regular file of the same folder are refused
// too. Every [Problem] names file, line and column, and all of them are found
// in one go, up to a hundred in a file. Depth, size and aliases are bounded.
//
// # What is added
//
// $file_sha256sum of the bytes to each datafile, __identifier to list items
// with unique fields and to the datafiles that lists refer to, both also to
// the JSON schemas; backrefs to resources, sorted by path and then jsonpath.
package bundler
