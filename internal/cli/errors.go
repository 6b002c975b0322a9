package cli

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/app-sre/prcheck/internal/safepath"
)

// The exit codes of every command.
const (
	ExitOK      = 0
	ExitFailed  = 1
	ExitUsage   = 2
	ExitTrouble = 3
	// ExitPipe is the exit code when nobody reads the output any more. Shells show it for
	// programs that SIGPIPE ended.
	ExitPipe = 128 + 13
)

// ErrFailed says that a check failed. Nothing is printed for it, because the report says
// so.
var ErrFailed = errors.New("a check failed")

// errNobodyReads is the error of writing to a standard output whose reader went away.
var errNobodyReads = errors.New("nobody reads the output")

// errTold is an error that another process has printed.
var errTold = errors.New("it is told already")

// Told returns the error of a command whose work another process did: it has the exit code
// of that process, and nothing is printed for it. It is nil for [ExitOK].
func Told(code int) error {
	if code == ExitOK {
		return nil
	}
	return &coded{code: code, err: errTold}
}

// A coded error is an error with an exit code.
type coded struct {
	code int
	err  error
}

func (c *coded) Error() string { return c.err.Error() }
func (c *coded) Unwrap() error { return c.err }

// Usage marks err as wrong flags or arguments. A nil error stays nil.
func Usage(err error) error { return withCode(err, ExitUsage) }

// Invalid marks err as input that cannot be used, such as a file with a mistake in it. A
// nil error stays nil.
func Invalid(err error) error { return withCode(err, ExitUsage) }

func withCode(err error, code int) error {
	if err == nil {
		return nil
	}
	return &coded{code: code, err: err}
}

// A problem is one line on stderr and an exit code.
type problem struct {
	text     string
	code     int
	silent   bool // print no line
	canceled bool // the context was canceled
}

// problems returns a problem for each error that was joined into err. An error without an
// exit code of its own gets code.
//
//nolint:errorlint // it walks the tree of errors itself, one error at a time
func problems(err error, code int) []problem {
	switch err {
	case nil, pflag.ErrHelp:
		return nil
	case ErrFailed:
		return []problem{{code: ExitFailed, silent: true}}
	case errTold:
		return []problem{{code: code, silent: true}}
	case errNobodyReads:
		return []problem{{code: ExitPipe, silent: true}}
	case safepath.ErrLink:
		return []problem{{text: err.Error(), code: ExitUsage}}
	case syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM: // the machine is short of it, whatever it was for
		return []problem{{text: err.Error(), code: ExitTrouble}}
	case context.Canceled:
		return []problem{{text: err.Error(), code: code, canceled: true}}
	}
	switch e := err.(type) {
	case *coded:
		return problems(e.err, e.code)
	case interface{ WrappedErrors() []error }:
		return problemsOf(e.WrappedErrors(), code)
	case interface{ Unwrap() []error }:
		return joinedProblems(err, e.Unwrap(), code)
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil { // an error may wrap another one only sometimes
			return wrappedProblems(err, inner, code)
		}
	}
	return []problem{{text: err.Error(), code: code}}
}

func problemsOf(errs []error, code int) []problem {
	var all []problem
	for _, err := range errs {
		all = append(all, problems(err, code)...)
	}
	return all
}

// joinedProblems handles the errors of errors.Join. It also handles the errors of fmt.Errorf
// with several %w: such an error is one sentence about several errors, and one problem.
func joinedProblems(err error, parts []error, code int) []problem {
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = part.Error()
	}
	if err.Error() == strings.Join(texts, "\n") {
		return problemsOf(parts, code)
	}
	var c *coded
	if errors.As(err, &c) {
		code = c.code
	}
	return []problem{{text: err.Error(), code: code}}
}

// wrappedProblems handles an error that adds context to another error: the context is put
// in front of every line of the other error.
func wrappedProblems(err, inner error, code int) []problem {
	all := problems(inner, code)
	if len(all) == 0 {
		return nil
	}
	before, ok := strings.CutSuffix(err.Error(), inner.Error())
	if len(all) == 1 || !ok {
		one := all[0]
		for _, p := range all[1:] {
			one.code = max(one.code, p.code)
			one.silent = one.silent && p.silent
		}
		one.text, one.canceled = err.Error(), one.canceled && len(all) == 1
		return []problem{one}
	}
	for i := range all {
		all[i].text = before + all[i].text
	}
	return all
}
