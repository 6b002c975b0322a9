//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	requests  = 3000 // to the server
	clients   = 64   // that ask at once
	nodesPeak = 322  // MB that qontract-server on Node.js needed at most
)

// servers measures a server that is asked queries which never repeat.
func (b *bench) servers(ctx context.Context, w *world) ([]line, error) {
	// only a message
	_, _ = fmt.Fprintf(b.notes, "bench: asking a server %d queries\n", requests)
	cmd := exec.CommandContext(ctx, b.bin+"/planner", "serve", "--bundle", w.base, "--listen", "127.0.0.1:0") //nolint:gosec // our own words
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	address, err := addressIn(stderr)
	if err != nil {
		return nil, err
	}
	before, stop := cpuSeconds(cmd.Process.Pid), watchPrivate(cmd.Process.Pid)
	err = ask(ctx, address+"/graphql", w.questions(b.files))
	private := stop()
	if err != nil {
		return nil, err
	}
	each := (cpuSeconds(cmd.Process.Pid) - before) / requests * 1000
	return []line{
		{measured: each, unit: "ms", budget: 0.6},
		{measured: memory(cmd.Process.Pid, "VmHWM"), unit: "MB", budget: nodesPeak,
			note: fmt.Sprintf("(private: %.0f MB; Node.js needed as much as is asked, with its own data)", private)},
	}, nil
}

var url = regexp.MustCompile(`http://[0-9.]+:[0-9]+`)

// addressIn returns the address that a server prints, and drops what follows.
func addressIn(stderr io.Reader) (string, error) {
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadString('\n')
		if found := url.FindString(line); found != "" {
			go func() { _, _ = io.Copy(io.Discard, lines) }()
			return found, nil
		}
		if err != nil {
			return "", fmt.Errorf("the server printed no address: %w", err)
		}
	}
}

// questions returns queries of which each is asked once: objects by their path and by their
// name, with references and back references; of fifty queries one lists all objects of a
// schema.
func (w *world) questions(files int) []string {
	var out []string
	for i := range requests {
		at := i % files
		for kindOf(at) != []string{"user", "role", "namespace", "user"}[i%4] {
			at = (at + 1) % files
		}
		path := strings.TrimPrefix(w.name(at, files), "data")
		switch {
		case i%50 == 0:
			out = append(out, fmt.Sprintf("{ q%d: namespaces { path name quota } }", i))
		case i%4 == 0:
			out = append(out,
				fmt.Sprintf("{ q%d: users(path: %q) { name email keys roles { name namespaces { name cluster labels } } } }", i,
					path))
		case i%4 == 1:
			out = append(out, fmt.Sprintf("{ q%d: roles(path: %q) { name namespaces { name cluster } users { name email } } }",
				i, path))
		case i%4 == 2:
			out = append(out, fmt.Sprintf("{ q%d: namespaces(name: \"namespace-%d\") { path cluster quota labels } }", i, at))
		default:
			out = append(out, fmt.Sprintf("{ q%d: users(name: \"user-%d\") { path roles { name users { name } } } }", i, at))
		}
	}
	return out
}

// ask sends all queries, from many clients at once. A refusal or an empty answer is an error.
func ask(ctx context.Context, url string, queries []string) error {
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range clients {
		g.Go(func() error {
			c := http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
			defer c.CloseIdleConnections()
			for i := next.Add(1) - 1; i < int64(len(queries)); i = next.Add(1) - 1 {
				if err := askOne(ctx, &c, url, queries[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

func askOne(ctx context.Context, c *http.Client, url, query string) error {
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var answer struct {
		Data   map[string][]any
		Errors []any
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	for _, found := range answer.Data {
		if len(found) > 0 && len(answer.Errors) == 0 {
			return nil
		}
	}
	return fmt.Errorf("%s: status %d, %v", query, resp.StatusCode, answer)
}

// cpuSeconds returns the CPU time of a process so far, 0 if it is not known.
func cpuSeconds(pid int) float64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest)
	const user, system, ticks = 11, 12, 100 // Linux counts hundredths of a second
	if len(fields) <= system {
		return 0
	}
	a, _ := strconv.ParseFloat(fields[user], 64)
	c, _ := strconv.ParseFloat(fields[system], 64)
	return (a + c) / ticks
}
