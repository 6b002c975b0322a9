//go:build linux && amd64

package reads_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/app-sre/prcheck/internal/reads"
)

// BenchmarkCalls measures the processor time of a recorded call, of the program and the
// tracer together, beside the same call that is not recorded.
func BenchmarkCalls(b *testing.B) {
	const n = 5000
	for _, names := range []string{"same", "differ"} {
		for _, relative := range []string{"absolute", "relative"} {
			for _, recorded := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/%s/recorded=%v", names, relative, recorded), func(b *testing.B) {
					dir := b.TempDir()
					if err := os.WriteFile(filepath.Join(dir, "f"), []byte("x"), 0o600); err != nil {
						b.Fatal(err)
					}
					for i := range n {
						name := filepath.Join(dir, "f"+strconv.Itoa(i))
						if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
							b.Fatal(err)
						}
					}
					name := "f"
					if relative == "absolute" {
						name = filepath.Join(dir, "f")
					}
					b.Setenv(helperVariable, "load")
					measure(b, 2*n, recorded, dir, "/proc/self/exe", strconv.Itoa(n), names, name)
				})
			}
		}
	}
}

// BenchmarkPython measures a program in Python that opens 2,000 files.
func BenchmarkPython(b *testing.B) {
	python, err := exec.LookPath("/usr/bin/python3")
	if err != nil {
		b.Skip(err)
	}
	dir := b.TempDir()
	for i := range 2000 {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), []byte("x"), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for _, recorded := range []bool{false, true} {
		b.Run(fmt.Sprintf("recorded=%v", recorded), func(b *testing.B) {
			measure(b, 1, recorded, dir, python, "-c",
				"import os\nfor i in range(2000):\n with open('"+dir+"/%d' % i) as f: f.read()\n"+
					"for i in range(200): os.path.exists('no%d' % i)")
		})
	}
}

// BenchmarkIntegration measures a program in Python that takes about a second: it loads modules, reads 500 files, and
// computes.
func BenchmarkIntegration(b *testing.B) {
	python, err := exec.LookPath("/usr/bin/python3")
	if err != nil {
		b.Skip(err)
	}
	dir := b.TempDir()
	for i := range 500 {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), []byte(`{"a": [1, 2, 3]}`), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for _, recorded := range []bool{false, true} {
		b.Run(fmt.Sprintf("recorded=%v", recorded), func(b *testing.B) {
			measure(b, 1, recorded, dir, python, "-c",
				"import argparse, asyncio, email, http.client, json, logging, os, sqlite3, ssl, urllib.request, xml.dom\n"+
					"for i in range(500):\n with open('"+dir+"/%d' % i) as f: json.load(f)\n"+
					"x = 0\nfor i in range(16000000): x += i")
		})
	}
}

// measure runs a command and reports its processor time and that of its tracer for each call.
func measure(b *testing.B, calls int, recorded bool, dir string, argv ...string) {
	var cpu int64
	for b.Loop() {
		before := cpuTime(unix.RUSAGE_CHILDREN) + cpuTime(unix.RUSAGE_SELF)
		onThread(func() {
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Dir = dir
			if !recorded {
				if err := cmd.Run(); err != nil {
					b.Error(err)
				}
				return
			}
			tracer, err := reads.Start(cmd, reads.Scope{Below: []string{dir}})
			if err != nil {
				b.Error(err)
				return
			}
			tracer.Serve(func(syscall.WaitStatus) {})
		})
		cpu += int64(cpuTime(unix.RUSAGE_CHILDREN) + cpuTime(unix.RUSAGE_SELF) - before)
	}
	b.ReportMetric(float64(cpu)/float64(b.N)/float64(calls)/1000, "cpu-us/call")
}
