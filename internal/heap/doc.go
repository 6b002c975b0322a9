// Package heap makes short commands start with a large heap: collections of garbage take a
// fifth of the time of a command that uses little memory, and run more than ten times in it.
package heap
