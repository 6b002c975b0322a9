// Package layers holds the rules about the code itself by test: which package
// may import which, who owns which outside library, what the deciding packages
// must not touch, and how large files and functions may grow.
//
// The rules stand in table_test.go. A new package starts by adding its line
// there, a new library by naming its owner. Only code that is built is looked
// at; tests may import what they need, and testdata is left alone.
package layers
