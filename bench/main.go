//go:build unix

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// options say how much is measured.
type options struct {
	files        int // datafiles of the world; the large one has five times as many
	integrations int
	runs         int
	only         *regexp.Regexp // names of rows; nil for all
	programs     string         // folder with planner and runner; "" builds them
	growth       []int          // numbers of datafiles; only the growth is measured then
	benchmarks   bool           // whether benchmarks of packages are measured as well
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o := options{benchmarks: true}
	var growth string
	flag.IntVar(&o.files, "files", 10_000, "datafiles of the smaller checkout; the larger one has five times as many")
	flag.IntVar(&o.runs, "runs", 5, "runs of each command, of which the median counts")
	flag.StringVar(&growth, "growth", "", "measure how the CPU time grows: numbers of datafiles, such as 1000,10000,50000")
	flag.Func("only", "measure only the rows whose names match a regular expression, such as server",
		func(text string) (err error) {
			o.only, err = regexp.Compile(text)
			return err
		})
	flag.Parse()
	o.integrations = 100
	for n := range strings.SplitSeq(growth, ",") {
		if files, err := strconv.Atoi(n); err == nil && files > 0 {
			o.growth = append(o.growth, files)
		} else if growth != "" {
			_, _ = fmt.Fprintf(os.Stderr, "bench: %q is no number of datafiles\n", n)
			os.Exit(2)
		}
	}
	if err := measure(ctx, os.Stdout, os.Stderr, o); err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		stop()
		os.Exit(3) //nolint:gocritic // stop was called
	}
}

// measure builds the programs, makes the data and prints a table. It says in notes what it does.
func measure(ctx context.Context, out, notes io.Writer, o options) error {
	dir, err := os.MkdirTemp("", "prcheck-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{options: o, dir: dir, bin: filepath.Join(dir, "bin"), notes: notes, worlds: map[int]*world{}}
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	b.root = root
	if o.programs != "" {
		b.bin = o.programs
	} else if err := run(ctx, root, "go", "build", "-o", b.bin+"/", "./cmd/..."); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "CPU time (user and system) in seconds, median of %d runs, %s/%s, %d processors%s%s, %s\n\n",
		o.runs, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), modelOf("/proc/cpuinfo"), commitOf(ctx, root),
		time.Now().Format(time.DateOnly))
	if len(o.growth) > 0 {
		return b.growths(ctx, out)
	}
	lines, err := b.lines(ctx)
	if err != nil {
		return err
	}
	return writeTable(out, lines)
}

// commitOf returns ", commit " and the commit of a checkout, "" if there is none.
func commitOf(ctx context.Context, root string) string {
	cmd := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--exclude=*")
	cmd.Dir = root
	raw, err := cmd.Output()
	if err != nil {
		return ""
	}
	return ", commit " + strings.TrimSpace(string(raw))
}

// modelOf returns " of " and the model of the processors, "" if it is not known. Linux tells it
// in a file.
func modelOf(file string) string {
	raw, _ := os.ReadFile(file) //nolint:gosec // our own name; Linux alone has it
	for line := range strings.Lines(string(raw)) {
		name, model, _ := strings.Cut(line, ":")
		if model = strings.TrimSpace(model); strings.TrimSpace(name) == "model name" && model != "" {
			return " of " + model
		}
	}
	return ""
}

// moduleRoot returns the folder of go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("there is no go.mod: start it inside of the repository")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}
