//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A command is a program with its arguments, run in a folder.
type command struct {
	dir    string
	argv   []string
	env    []string // beside the environment of this process
	before func() error
	// exits are the exit codes that are no error, beside 0.
	exits []int
}

// cpu returns the CPU time of a command and all that it starts, in seconds: the median of so
// many runs. The first run, which fills caches, does not count if warm.
func (c command) cpu(ctx context.Context, runs int, warm bool) (float64, error) {
	var all []float64
	if warm {
		if _, err := c.once(ctx, nil); err != nil {
			return 0, err
		}
	}
	for range runs {
		seconds, err := c.once(ctx, nil)
		if err != nil {
			return 0, err
		}
		all = append(all, seconds)
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}

// once runs the command, and returns its CPU time. Watch is called with its process.
func (c command) once(ctx context.Context, watch func(pid int)) (float64, error) {
	if c.before != nil {
		if err := c.before(); err != nil {
			return 0, err
		}
	}
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...) //nolint:gosec // our own words
	cmd.Dir, cmd.Env = c.dir, append(os.Environ(), c.env...)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = io.Discard, &said
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	if watch != nil {
		watch(cmd.Process.Pid)
	}
	err := cmd.Wait()
	if err != nil && !slices.Contains(c.exits, cmd.ProcessState.ExitCode()) {
		return 0, fmt.Errorf("%s: %w\n%s", strings.Join(c.argv, " "), err, said.String())
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), nil
}

// private returns the most private memory that a command had at once, in MB, as Linux tells it
// every two milliseconds.
func (c command) private(ctx context.Context) (float64, error) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		return 0, nil //nolint:nilerr // 0 is for not known
	}
	stop := func() float64 { return 0 }
	_, err := c.once(ctx, func(pid int) { stop = watchPrivate(pid) })
	return stop(), err
}

// watchPrivate looks at the private memory of a process every two milliseconds, until the
// function that it returns is called, which returns the most that was seen in MB.
func watchPrivate(pid int) (stop func() float64) {
	done, most := make(chan struct{}), make(chan float64)
	go func() {
		seen := 0.0
		for {
			seen = max(seen, memory(pid, "RssAnon"))
			select {
			case <-done:
				most <- seen
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return func() float64 {
		close(done)
		return <-most
	}
}

// memory returns what Linux tells of the memory of a process in MB, 0 if that is not known:
// RssAnon is the private memory, VmHWM is the most memory so far.
func memory(pid int, name string) float64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kb, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			if err == nil {
				return kb / 1024
			}
		}
	}
	return 0
}
