package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// mostInOne is how many merge requests one process checks at most.
const mostInOne = 100

// countAll checks merge requests with several processes: one process makes one run at a time.
func countAll(ctx context.Context, o options) (*sum, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return countWith(ctx, program, o, nil)
}

// countWith checks merge requests with processes of a program. It ends early when stop says so.
func countWith(ctx context.Context, program string, o options, stop func(*sum) bool) (*sum, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := max(1, o.workers)
	share := max(1, min(mostInOne, (o.pairs+workers-1)/workers))
	all := newSum()
	var failed error
	var mu sync.Mutex
	var group sync.WaitGroup
	next := make(chan int)
	for range workers {
		group.Go(func() {
			for from := range next {
				s, err := countIn(ctx, program, o, from, min(share, o.from+o.pairs-from))
				mu.Lock()
				switch {
				case err != nil && ctx.Err() == nil:
					failed = err
					cancel()
				case s != nil:
					all.add(s)
					if stop != nil && stop(s) {
						cancel()
					}
				}
				mu.Unlock()
			}
		})
	}
	for from := o.from; from < o.from+o.pairs; from += share {
		select {
		case next <- from:
		case <-ctx.Done():
		}
	}
	close(next)
	group.Wait()
	return all, failed
}

// countIn checks some merge requests in a process of its own.
func countIn(ctx context.Context, program string, o options, from, pairs int) (*sum, error) {
	args := []string{"--json", "--native", o.native, "--seed", strconv.FormatUint(o.seed, 10), "--from",
		strconv.Itoa(from), "--pairs", strconv.Itoa(pairs),
		"--shown", strconv.Itoa(o.shown), "--edits", o.edits, "--no-shrink=" + strconv.FormatBool(o.noShrink)}
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // it is this program, or one that was built of it
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var errs bytes.Buffer
	cmd.Stderr = &errs
	raw, err := cmd.Output()
	s := newSum()
	if jsonErr := json.Unmarshal(raw, s); err == nil {
		err = jsonErr
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(errs.Bytes()))
	}
	return s, nil
}

// command runs a program of this machine and returns what it prints.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	raw, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(errs.Bytes()))
	}
	return strings.TrimRight(string(raw), "\n"), nil
}
