package wrapper

import "os/exec"

// FindProgram returns an error unless a program can be started: a name without a slash must
// be in a folder of the PATH of this process.
func FindProgram(name string) error {
	_, err := exec.LookPath(name)
	return err
}
