// Package conformance is a scored suite for programs that select integrations.
//
// cases.json holds the cases as data: a small change of the shop in testdata/shop, and which
// integrations or shards must run, must not run, or may run for it. Each case tests one rule
// and says why it is so. The tests of this package score three selectors: prcheck, one that
// looks at allowed schemas only, and one that looks at changed files only. The flag -selector
// scores any other program; README.md describes its interface.
package conformance
