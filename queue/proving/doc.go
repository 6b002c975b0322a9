// Package proving finds out what of a merge request holds on a base: it rebases the request in memory, validates the
// tree that this makes, plans it by the rules of the base, and looks up which tasks passed with the very same inputs.
//
// Nothing is taken from a working tree: programs, settings, queries and definitions are those of the two commits. What
// is made reaches no repository but a scratch of its own.
package proving
