package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/app-sre/prcheck/internal/hugepages"
	"github.com/app-sre/prcheck/internal/sanitize"
)

// Env is the world as a command sees it.
type Env struct {
	Args   []string // without the command's own name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
	// Environ lists the environment as NAME=value; nil when it cannot be listed.
	Environ func() []string
}

// heap is about what a plan over ten thousand datafiles allocates beside the
// bundles, in bytes.
const heap = 32 << 20

// once is for how long more signals mean the same wish to stop: a terminal, a shell
// and timeout may each send one.
const once = time.Second

// Main runs a command in the process's own world and returns its exit code.
func Main(name string, run func(context.Context, Env) error) int {
	hugepages.Heap(heap)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(once, stop) }) // from then on another signal ends the process

	// Once somebody listens, writing to a closed pipe is an error instead of
	// a deadly signal, and a command can still stop what it started.
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	defer signal.Stop(pipes)

	return Run(ctx, name, Env{
		Args:   os.Args[1:],
		Stdin:  os.Stdin,
		Stdout: stdout{os.Stdout},
		Stderr: os.Stderr,
		Getenv: os.Getenv, Environ: os.Environ,
	}, run)
}

// Run runs a command in the given world and returns its exit code. Errors are
// printed on env.Stderr, one line each, starting with the command's name.
func Run(ctx context.Context, name string, env Env, run func(context.Context, Env) error) int {
	err := contained(ctx, env, run)
	code := ExitOK
	for _, p := range problems(err, ExitTrouble) {
		code = max(code, p.code)
		if p.silent {
			continue
		}
		if p.canceled && ctx.Err() != nil {
			p.text = "interrupted"
		}
		_, _ = fmt.Fprintf(env.Stderr, "%s: %s\n", name, sanitize.Line(p.text))
	}
	return code
}

// contained calls run and turns a panic into an error.
func contained(ctx context.Context, env Env, run func(context.Context, Env) error) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		remedy := "set PRCHECK_DEBUG=1 to see where"
		if env.Getenv != nil && env.Getenv("PRCHECK_DEBUG") != "" {
			_, _ = env.Stderr.Write(debug.Stack())
			remedy = "the stack is above"
		}
		err = fmt.Errorf("internal error: %v (a bug in prcheck; %s)", p, remedy)
	}()
	return run(ctx, env)
}

// File returns the file behind a stream, so that another process can be given
// it, or the stream itself when there is none.
func File(w io.Writer) io.Writer {
	if s, ok := w.(stdout); ok {
		return s.File
	}
	return w
}

// stdout is the process's standard output; it knows when nobody reads it.
type stdout struct{ *os.File }

func (s stdout) Write(p []byte) (int, error) {
	n, err := s.File.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		return n, errNobodyReads
	}
	return n, err
}
