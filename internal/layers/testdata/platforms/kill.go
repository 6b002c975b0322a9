// Package platforms names what one system lacks, for the test of package layers.
package platforms

import "syscall"

// Kill is missing on Windows.
var Kill = syscall.Kill
