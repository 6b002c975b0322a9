// Package recording notes what tasks ask while they run, and remembers it of
// those that passed.
package recording
