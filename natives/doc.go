// Package natives lists the integrations that are part of prcheck's programs. A program with further ones appends them
// to the list: see docs/natives.md.
package natives
