// Package lazyregexp has regular expressions that are compiled when they are first used. A command uses few
// of those that are linked into it, and to compile all would take a third of its start.
package lazyregexp
