package wrapper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/app-sre/prcheck/plan"
)

// A Command is what a task becomes. Argv, the values of Env and Config may hold
// placeholders, see [Process].
type Command struct {
	Argv   []string          // nil means the task's own
	Env    []string          // "NAME=value": the child's whole environment
	Dir    string            // "" means the runner's own
	Config string            // text of a private file whose path is {config}; "" means no file
	Vars   map[string]string // placeholders and their values
}

// An Endpoint is where a task finds its bundles. It is opened for one task and
// closed after it.
type Endpoint interface {
	// Vars returns placeholders and their values, such as graphql_url.
	Vars() map[string]string
	// Close ends it. It returns a *ConfigError when the task asked for what it
	// may not read, which fails the task whatever its exit code.
	Close() error
}

// A Process is a [Runner] for tasks that are commands. The zero value runs them
// in an empty environment.
//
// Placeholders are words in braces. {task}, {shard}, {shards}, {shard_id}, {config}
// and {lbrace}, which is an opening brace, are built in; the Endpoint adds its own,
// and Command.Vars the rest, such as env.HOME. In case of conflict the first of
// these wins.
type Process struct {
	Command func(plan.Task) (Command, error)                            // nil: the task's own arguments
	Open    func(ctx context.Context, task plan.Task) (Endpoint, error) // nil: no endpoint
	Grace   time.Duration                                               // from SIGTERM to SIGKILL; 0 means five seconds
}

// Run starts the task's command and waits for its end.
func (p Process) Run(ctx context.Context, task plan.Task, log io.Writer) (failure error) {
	var command Command
	if p.Command != nil {
		var err error
		if command, err = p.Command(task); err != nil {
			return err
		}
	}
	if command.Argv == nil {
		command.Argv = task.Argv
	}
	vars := map[string]string{}
	maps.Copy(vars, command.Vars)
	if p.Open != nil {
		endpoint, err := p.Open(ctx, task)
		if err != nil {
			return fmt.Errorf("opening the endpoint: %w", err)
		}
		defer func() { failure = errors.Join(failure, endpoint.Close()) }()
		maps.Copy(vars, endpoint.Vars())
	}
	vars["task"], vars["shard"], vars["lbrace"] = task.ID, task.Shard, "{"
	shards, id := task.Static.Numbers()
	vars["shards"], vars["shard_id"] = strconv.Itoa(shards), strconv.Itoa(id)
	return p.runIn(ctx, command, vars, log)
}

// runIn makes the private folder with the config file, if there is one, and runs
// the command.
func (p Process) runIn(ctx context.Context, command Command, vars map[string]string, log io.Writer) error {
	if command.Config != "" {
		folder, err := os.MkdirTemp("", "prcheck-") // mode 0700
		if err != nil {
			return fmt.Errorf("making a private folder: %w", err)
		}
		defer os.RemoveAll(folder)
		vars["config"] = filepath.Join(folder, "config")
		if err := os.WriteFile(vars["config"], []byte(expand(command.Config, vars)), 0o600); err != nil {
			return fmt.Errorf("writing the private config: %w", err)
		}
	}
	return p.execute(ctx, command.expanded(vars), log)
}

// execute runs a command without placeholders. The output goes through a pipe of
// our own, because os/exec would wait for it before we could kill what the
// command left behind.
func (p Process) execute(ctx context.Context, command Command, log io.Writer) error {
	if len(command.Argv) == 0 {
		return configErrorf("the task has no command")
	}
	grace := p.Grace
	if grace <= 0 {
		grace = 5 * time.Second
	}
	out, in, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("making a pipe: %w", err)
	}
	defer out.Close()
	cmd := exec.CommandContext(ctx, command.Argv[0], command.Argv[1:]...)
	cmd.Env = append([]string{}, command.Env...) // not nil, which would mean our own
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = command.Dir, in, in, grace
	var kill time.Time // when the grace ends; zero while the command was not told to stop
	cmd.Cancel = func() error {
		kill = time.Now().Add(grace)
		return terminate(cmd.Process)
	}
	defer inGroup(cmd)()
	err = cmd.Start()
	in.Close()
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return configErrorf("cannot start %q: %w", command.Argv[0], err)
	}
	copied := make(chan struct{})
	go func() {
		// It ends when nobody holds the other end, or out is closed. Most tasks say
		// little, and the buffer is most of what one takes of our memory.
		_, _ = io.CopyBuffer(log, struct{ io.Reader }{out}, make([]byte, 8<<10))
		close(copied)
	}()
	err = cmd.Wait()
	for !kill.IsZero() && time.Now().Before(kill) && groupAlive(cmd.Process) {
		time.Sleep(10 * time.Millisecond)
	}
	killGroup(cmd.Process)
	drain(out, copied, grace, log)
	return exitOf(ctx, cmd, err)
}

// drain waits for the rest of the output, but not for ever: a child that left
// the process group may still hold the other end.
func drain(out io.Closer, copied <-chan struct{}, grace time.Duration, log io.Writer) {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-copied:
		return
	case <-timer.C:
	}
	_ = out.Close()
	<-copied
	_, _ = fmt.Fprintln(log, "prcheck: a child process still holds the output open; what it writes from here on is lost")
}

// exitOf says how an ended command ended.
func exitOf(ctx context.Context, cmd *exec.Cmd, err error) error {
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), exitError(cmd.ProcessState))
	}
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) {
		return exitError(cmd.ProcessState)
	}
	return fmt.Errorf("waiting for %q: %w", cmd.Path, err)
}

// exitError returns nil for a success.
func exitError(state *os.ProcessState) error {
	if state == nil || state.Success() {
		return nil
	}
	return &ExitError{Code: state.ExitCode(), Signal: signalOf(state)}
}
