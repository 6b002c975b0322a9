// Package setup sets prcheck up in a repository. [Look] finds out what the repository has:
// datafiles, JSON schemas, GraphQL types, integration definitions, and whether they are
// those of qontract-reconcile. [Repository.Files] are the files that prcheck needs there,
// with comments. [Create] creates such a file and never overwrites one. [Repository.Missing]
// says what a person must still do.
//
// Names and commands come from the working tree and are untrusted: they are quoted in files
// and made harmless in messages.
package setup
