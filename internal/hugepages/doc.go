// Package huge asks for huge pages behind large buffers: filling those then
// costs a fraction of the page faults, which for a short command that reads much
// are a good part of its time. All of it is a hint; nothing depends on its
// success.
package hugepages
