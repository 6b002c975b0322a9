//go:build unix

package moved

import "syscall"

// replace makes this process the program with these arguments, the first of which is its name.
func replace(file string, args, environ []string) error { return syscall.Exec(file, args, environ) }
