// Package origin reads where a server is: scheme, host and port. It says in one place which addresses a
// program may be given, and what is this machine.
package origin
