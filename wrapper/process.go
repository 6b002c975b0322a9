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
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/reads"
	"github.com/app-sre/prcheck/plan"
)

// A Command is the command line of a task with everything it needs to start. Argv,
// the values of Env, and Config may contain placeholders, see [Process].
type Command struct {
	Argv   []string          // nil means the Argv of the task
	Env    []string          // the whole environment of the process, as "NAME=value"
	Dir    string            // the folder it starts in; "" means the current folder
	Config string            // text of a private file whose path replaces {config}; "" means no file
	Vars   map[string]string // values of placeholders, by the word in braces
	// Enter is called right before the start, on the thread that starts the command. What it
	// changes of this thread, such as the mounts that the thread sees, holds for the command
	// and for nothing else: the thread is not used again. Enter may be nil.
	Enter func() error

	reads  reads.Scope        // what is recorded; the zero value is nothing
	record func(reads.Record) // gets what the command read
}

// An Endpoint is a server from which one task reads its bundles. It is opened before
// the task starts and closed after the task has ended.
type Endpoint interface {
	// Vars returns values of placeholders, such as graphql_url.
	Vars() map[string]string
	// Close closes the endpoint. It returns a *ConfigError if the task asked for
	// data that it may not read. The task then fails, whatever its exit code is.
	Close() error
}

// A Process is a [Runner] for tasks that are commands. The zero value runs the Argv of
// each task in an empty environment.
//
// A placeholder is a word in braces. Its value comes from the first of these sources
// that knows the word:
//
//   - Process itself: {task}, {shard}, {shards}, {shard_id}, {config}, {effects} (the path
//     of an empty private file, for what the task would do), and {lbrace} for an opening
//     brace
//   - the Vars of the Endpoint
//   - the Vars of the Command, such as env.HOME
type Process struct {
	// Command returns the command of a task. If it is nil, the command is the Argv
	// of the task.
	Command func(plan.Task) (Command, error)
	// Open opens the endpoint of a task. If it is nil, tasks have no endpoint.
	Open func(ctx context.Context, task plan.Task) (Endpoint, error)
	// Temp is the folder for private config files. "" means the folder for temporary
	// files of the system.
	Temp string
	// Effects is called when a command that uses {effects} has ended, with the path of that
	// file. The file is removed afterwards. Effects may be nil.
	Effects func(file string)
	// Grace is the time between SIGTERM and SIGKILL. 0 means five seconds.
	Grace time.Duration

	// HandOut is called before each start of a task with the values that this process
	// gives to it: those of its endpoint and the path of its config file. Several
	// goroutines call it at once. It may be nil.
	HandOut func(task plan.Task, values []string)

	// Reads returns which reads of a task are recorded. If it is nil or returns no folder,
	// nothing is recorded.
	Reads func(task plan.Task) reads.Scope
	// Record is called when the command of such a task has ended, with what it read. Where
	// nothing can be recorded the command runs all the same, and the record says why. Record
	// may be nil.
	Record func(task plan.Task, r reads.Record)

	start func(*exec.Cmd) error // starts a command; nil is its method Start
}

// Run starts the task's command and waits until it has ended.
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
	if p.Reads != nil {
		command.reads = p.Reads(task)
	}
	command.record = func(r reads.Record) {
		if p.Record != nil && len(command.reads.Below) > 0 {
			p.Record(task, r)
		}
	}
	var given []string
	vars := map[string]string{}
	maps.Copy(vars, command.Vars)
	if p.Open != nil {
		endpoint, err := p.Open(ctx, task)
		if err != nil {
			return StartError(fmt.Errorf("opening the endpoint: %w", err))
		}
		defer func() { failure = errors.Join(failure, endpoint.Close()) }()
		given = slices.Collect(maps.Values(endpoint.Vars()))
		maps.Copy(vars, endpoint.Vars())
	}
	vars["task"], vars["shard"], vars["lbrace"] = task.ID, task.Shard, "{"
	shards, id := task.Static.Numbers()
	vars["shards"], vars["shard_id"] = strconv.Itoa(shards), strconv.Itoa(id)
	return p.runWithFiles(ctx, command, vars, log, func(files ...string) {
		if p.HandOut != nil {
			p.HandOut(task, append(given, files...))
		}
	})
}

// runWithFiles makes the private files of the command: its config file and the file for
// its effects, if it has them. It runs the command and removes the files afterwards. It
// calls handOut with the paths of the files and of their folder, or without any path.
func (p Process) runWithFiles(ctx context.Context, command Command, vars map[string]string, log io.Writer,
	handOut func(...string)) error {
	hasEffects := command.uses("{effects}")
	if command.Config == "" && !hasEffects {
		handOut()
		return p.execute(ctx, command.fillPlaceholders(vars), log)
	}
	folder, err := os.MkdirTemp(p.Temp, "prcheck-") // mode 0700
	if err != nil {
		return StartError(fmt.Errorf("making a private folder: %w", err))
	}
	defer os.RemoveAll(folder)
	files := []string{folder}
	write := func(word, text string) error {
		name := filepath.Join(folder, word)
		vars[word], files = name, append(files, name)
		if err := os.WriteFile(name, []byte(fillPlaceholders(text, vars)), 0o600); err != nil {
			return StartError(fmt.Errorf("writing the private file {%s}: %w", word, err))
		}
		return nil
	}
	if hasEffects {
		if err := write("effects", ""); err != nil {
			return err
		}
	}
	if command.Config != "" {
		if err := checkConfig(command.Config, vars); err != nil {
			return err
		}
		if err := write("config", command.Config); err != nil {
			return err
		}
	}
	handOut(files...)
	err = p.execute(ctx, command.fillPlaceholders(vars), log)
	if hasEffects && p.Effects != nil {
		p.Effects(vars["effects"])
	}
	return err
}

// execute runs a command whose placeholders are filled. The output goes through a pipe
// of this function, not of os/exec: os/exec would wait for the end of the output
// before the processes that the command left behind can be killed.
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
		return StartError(fmt.Errorf("making a pipe: %w", err))
	}
	defer out.Close()
	l, err := p.launch(ctx, command, in)
	in.Close()
	if err != nil {
		return err
	}
	stopWatching := l.watch(ctx, grace)
	copied := make(chan struct{})
	go func() {
		// The copy ends when no process holds the writing end of the pipe, or when out
		// is closed. The buffer is small because it is most of the memory that a task
		// takes in this process, and most tasks print little.
		_, _ = io.CopyBuffer(log, struct{ io.Reader }{out}, make([]byte, 8<<10))
		close(copied)
	}()
	end := <-l.ended
	kill := stopWatching()
	for !kill.IsZero() && time.Now().Before(kill) && isGroupAlive(l.process) {
		time.Sleep(10 * time.Millisecond)
	}
	l.killGroup()
	waitForOutput(out, copied, grace, log)
	command.record(l.finish())
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), end.exitError())
	}
	if end.err != nil {
		return fmt.Errorf("waiting for %q: %w", l.path, end.err)
	}
	return end.exitError()
}

// waitForOutput waits until all output is copied, at most for the grace period. After
// that a child that left the process group still holds the pipe, and waitForOutput
// closes it.
func waitForOutput(out io.Closer, copied <-chan struct{}, grace time.Duration, log io.Writer) {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-copied:
		return
	case <-timer.C:
	}
	_ = out.Close()
	<-copied
	const lost = "prcheck: a child process still holds the output open; what it writes from here on is lost"
	_, _ = fmt.Fprintln(log, lost)
}

// placeholder matches a word in braces, such as {task}. The placeholder of an
// environment variable starts with "env.", such as {env.HOME}.
var placeholder = lazyregexp.New(`\{(?:env\.[A-Za-z_][A-Za-z0-9_]*|[a-z][a-z0-9_]*)\}`)

// fillPlaceholders replaces the placeholders of text that have a value in vars. It
// reads the text once, so a placeholder inside a value stays as it is.
func fillPlaceholders(text string, vars map[string]string) string {
	return placeholder.ReplaceAllStringFunc(text, func(word string) string {
		if value, ok := vars[word[1:len(word)-1]]; ok {
			return value
		}
		return word
	})
}

// fillPlaceholders returns the command with the placeholders replaced in its
// arguments and in the values of its environment variables. Names of variables stay
// as they are.
func (c Command) fillPlaceholders(vars map[string]string) Command {
	argv := make([]string, len(c.Argv))
	for i, arg := range c.Argv {
		argv[i] = fillPlaceholders(arg, vars)
	}
	env := make([]string, len(c.Env))
	for i, entry := range c.Env {
		name, value, _ := strings.Cut(entry, "=")
		env[i] = name + "=" + fillPlaceholders(value, vars)
	}
	c.Argv, c.Env = argv, env
	return c
}

// uses reports whether an argument or the value of a variable has a placeholder.
func (c Command) uses(word string) bool {
	return slices.ContainsFunc(slices.Concat(c.Argv, c.Env),
		func(text string) bool { return strings.Contains(text, word) })
}

// checkConfig returns an error if a word that the change decides about would be filled into a
// config text with a character that can end the text around it. Such a key of a shard could
// add settings of its own.
func checkConfig(config string, vars map[string]string) error {
	for _, word := range []string{"name", "shard", "task"} {
		value := vars[word]
		if strings.Contains(config, "{"+word+"}") && strings.ContainsAny(value, "\"'`\\\n\r") {
			return configErrorf("{%s} is %.80q, which has a quote, a backslash or a line break, "+
				"so it cannot be put into config; put it into argv or env", word, value)
		}
	}
	return nil
}
