// Package memory reads the limit for the memory that tasks running at the same time may
// need together.
package memory
