//go:build linux && amd64

package reads

import (
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// BenchmarkStops measures what a stop costs without all that a tracer does at it: the kernel stops a call, wakes the
// tracer, and lets the call go on. No tracer can take less.
func BenchmarkStops(b *testing.B) {
	const calls = 10_000
	var cpu int64
	b.Setenv("READS_TEST_HELPER", "load")
	for b.Loop() {
		done := make(chan error)
		go func() {
			runtime.LockOSThread() // for good: the thread ends with it
			before := cpuNow()
			cmd := exec.Command("/proc/self/exe", strconv.Itoa(calls/2), "differ", filepath.Join(b.TempDir(), "f"))
			t, err := prepare(cmd, Scope{})
			if err == nil {
				t.resume(t.pid, unix.PTRACE_CONT, 0)
				err = t.letGo()
			}
			cpu += cpuNow() - before
			done <- err
		}()
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpu)/float64(b.N)/calls/1000, "cpu-us/call")
}

// letGo lets all threads go on at each stop, until they have ended.
func (t *Tracer) letGo() error {
	for {
		var status unix.WaitStatus
		tid, err := unix.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case errors.Is(err, unix.ECHILD):
			return nil
		case err != nil && !errors.Is(err, unix.EINTR):
			return err
		case status.Stopped() && status.StopSignal() != unix.SIGSTOP && status.StopSignal() != unix.SIGTRAP:
			t.resume(tid, unix.PTRACE_CONT, status.StopSignal())
		case status.Stopped():
			t.resume(tid, unix.PTRACE_CONT, 0)
		}
	}
}

// cpuNow returns the processor time of this process and its children so far, in nanoseconds.
func cpuNow() (total int64) {
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var usage unix.Rusage
		if unix.Getrusage(who, &usage) == nil {
			total += usage.Utime.Nano() + usage.Stime.Nano()
		}
	}
	return total
}
