// Package hugepages asks the system to use huge pages for large buffers. Filling a buffer
// then causes far fewer page faults, which take much of the time of a short command that
// reads a lot. The system may ignore the request; nothing depends on it.
package hugepages
