// Package mapped reads large files without copying them: the system shows the file in the
// memory of the process, and reads a page when it is first used. The file must stay as it is
// until it is closed. Removing it, or putting another one in its place, is no change of it.
package mapped
