//go:build !linux || !amd64

package reads

import (
	"errors"
	"os/exec"
	"syscall"
)

// A Tracer records what a command and its children read. This system has no tracer.
type Tracer struct{}

// Supported returns an error, because only Linux on amd64 has a tracer.
func Supported() error { return errors.New("reads are recorded only on Linux with an amd64 processor") }

// HasChildren reports false: no thread is waited on.
func HasChildren() bool { return false }

// Start returns the error of Supported and starts nothing.
func Start(*exec.Cmd, Scope) (*Tracer, error) { return nil, Supported() }

// Serve is never called, because Start makes no Tracer.
func (*Tracer) Serve(func(syscall.WaitStatus)) Record { return Record{} }

// Stop is never called, because Start makes no Tracer.
func (*Tracer) Stop() {}
