// Package layers tests the rules about the code itself: which package may import which
// other package, which package owns which outside library, what the deciding packages must
// not use, and how long files and functions may be.
//
// The rules are in table_test.go. A new package needs a line there, and a new library an
// owner. The rules hold for code that is built, not for tests and testdata. But tests of the check and of
// qontract keep the doors of their house, and houses_test.go says what programs do without.
package layers
