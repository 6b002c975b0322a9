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

	"github.com/app-sre/prcheck/internal/crash"
	"github.com/app-sre/prcheck/internal/heap"
	"github.com/app-sre/prcheck/internal/sanitize"
)

// Env is the environment of a command: arguments, streams and variables.
type Env struct {
	Args   []string // without the command's own name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
	// Environ lists the environment as NAME=value; nil when it cannot be listed.
	Environ func() []string

	begin func() // called when the work of a command begins; nil in tests and within a process
}

// heapSize is about the number of bytes that a plan over ten thousand datafiles allocates
// beside the bundles.
const heapSize = 32 << 20

// signalWindow is how long further signals count as the first one: a terminal, a shell and
// timeout may each send a signal for one ctrl-C.
const signalWindow = time.Second

// Main runs a command with the environment of the process and returns its exit code.
func Main(name string, run func(context.Context, Env) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(signalWindow, stop) }) // after that, another signal ends the process

	// With a listener for SIGPIPE, a write to a closed pipe returns an error and does not
	// kill the process, so that the command can still stop what it started.
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	defer signal.Stop(pipes)

	return Run(ctx, name, Env{
		Args:   os.Args[1:],
		Stdin:  os.Stdin,
		Stdout: stdout{os.Stdout},
		Stderr: os.Stderr,
		Getenv: os.Getenv, Environ: os.Environ,
		begin: func() { heap.Prepare(heapSize, os.Getenv("GOGC")) }, // help and completions need no large heap
	}, run)
}

// Run runs a command in an environment and returns its exit code. It prints each error on
// env.Stderr, on one line that begins with the name of the command.
func Run(ctx context.Context, name string, env Env, run func(context.Context, Env) error) int {
	err := runRecovered(ctx, env, run)
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

// runRecovered calls run and turns a panic into an error.
func runRecovered(ctx context.Context, env Env, run func(context.Context, Env) error) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		remedy := "set PRCHECK_DEBUG=1 to see where"
		if env.Getenv != nil && env.Getenv("PRCHECK_DEBUG") != "" {
			_, _ = fmt.Fprintf(env.Stderr, "panic: %v\n%s", p, debug.Stack())
			remedy = "the stack is above"
		}
		err = fmt.Errorf("internal error: %s (a bug in prcheck; %s)", crash.Text(p), remedy)
	}()
	return run(ctx, env)
}

// File returns the file behind a stream, which can be passed to another process, or the
// stream itself if there is no file.
func File(w io.Writer) io.Writer {
	if s, ok := w.(stdout); ok {
		return s.File
	}
	return w
}

// A stdout is the standard output of the process. Its Write returns errNobodyReads when the
// reader has gone away.
type stdout struct{ *os.File }

func (s stdout) Write(p []byte) (int, error) {
	n, err := s.File.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		return n, errNobodyReads
	}
	return n, err
}

// WriteString writes a text like Write. Without it [io.WriteString] would use the method of
// the file, which returns another error.
func (s stdout) WriteString(text string) (int, error) { return s.Write([]byte(text)) }

// ReadFrom writes what it reads like Write, for [io.Copy].
func (s stdout) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{s}, r)
}
