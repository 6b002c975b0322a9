// Package source opens what the commands work on: bundles by reference, and
// settings with the query files beside them.
package source
