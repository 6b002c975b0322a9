// Package rlimit bounds what a process that was started may use: its memory and the size of the
// files that it writes. The programs that it starts inherit the bounds. Systems other than Linux
// have no bounds.
package rlimit
