// Package importer writes data about a resource that is there, so that the plan right after is
// empty.
//
// [Strip] leaves out of a live body what data do not hold: what the service fills in or changes
// by itself, defaults that the service is known to set, marks of ours, what is empty, and
// secrets. The places of secrets are returned, never their values: a text whose name looks
// like that of a secret is left out as well.
//
// [Entry.Text] writes a datafile. The same entry gives the same bytes. Numbers stay exact: a
// body with a number that YAML readers may round is written as JSON text. [Entry.File] is a
// safe name, whatever the id of the resource has in it.
package importer
