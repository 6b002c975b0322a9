package wrapper_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/wrapper"
)

// open lists the files that this process has open.
func open(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	var to []string
	for _, name := range names {
		if link, err := os.Readlink(name); err == nil {
			to = append(to, link)
		}
	}
	return to
}

// A command has its input and both outputs open, and no file of this process.
func TestACommandInheritsNoFile(t *testing.T) {
	secret, err := os.Create(filepath.Join(t.TempDir(), "secret"))
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	for fd := 3; fd < 1024; fd++ { // what the test itself was started with
		syscall.CloseOnExec(fd)
	}
	r := runOne(t, shell("exec ls -l /proc/self/fd"), with(path),
		wrapper.RunOptions{Logs: wrapper.LogFolder{Dir: t.TempDir()}})
	var files []string
	for line := range strings.Lines(r.Tail) {
		if _, to, ok := strings.Cut(strings.TrimSpace(line), " -> "); ok && !strings.HasPrefix(to, "/proc/") {
			to, _, _ = strings.Cut(to, ":")
			files = append(files, to)
		}
	}
	if got := strings.Join(files, " "); !r.OK() || got != "/dev/null pipe pipe" {
		t.Errorf("got %q in %+v, want the input and two ends of a pipe", got, r)
	}
}

// After many tasks that end in every possible way, the numbers of open files,
// goroutines and threads are the same as before.
func TestManyTasksLeaveNothingBehind(t *testing.T) {
	kinds := []string{"exit 0", "echo x", "exit 3", "kill -9 $$", "sleep 60 & exec 3<&1; echo x",
		"exec >&- 2>&-; exit 1"}
	run := func(n int) {
		tasks := make([]plan.Task, n)
		for i := range tasks {
			tasks[i] = shell(kinds[i%len(kinds)])
			tasks[i].ID = strconv.Itoa(i)
		}
		runner := with(path)
		runner.Grace = time.Minute
		if _, err := wrapper.Run(t.Context(), tasks, runner,
			wrapper.RunOptions{Jobs: 4, Logs: wrapper.LogFolder{Dir: t.TempDir()}}); err != nil {
			t.Fatal(err)
		}
	}
	leavesNothing(t, run, 1000)
}

// leavesNothing runs many tasks, and checks that afterwards the numbers of open files, goroutines
// and threads are the same as after a few.
func leavesNothing(t *testing.T, run func(tasks int), many int) {
	t.Helper()
	run(20) // opens the files that stay open
	files, routines, threads := open(t), runtime.NumGoroutine(), len(threadsOf(t))
	run(many)
	if now := open(t); len(now) != len(files) {
		t.Errorf("open before %q, after %q", files, now)
	}
	if now := runtime.NumGoroutine(); now > routines+2 {
		t.Errorf("%d goroutines before, %d after", routines, now)
	}
	if now := len(threadsOf(t)); now > threads+8 {
		t.Errorf("%d threads before, %d after", threads, now)
	}
}

func threadsOf(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("/proc/self/task/*")
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A hundred megabytes of output, much of it binary, are kept completely and take
// almost no memory.
func TestHundredMegabytes(t *testing.T) {
	const size = 100 << 20
	logs := t.TempDir()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := runOne(t, shell("head -c "+strconv.Itoa(size)+" /dev/zero | tr '\\0' '\\377'; echo; printf 'a\\377\\376b\\n'"),
		with(path), wrapper.RunOptions{Logs: wrapper.LogFolder{Dir: logs}})
	runtime.ReadMemStats(&after)
	info, err := os.Stat(filepath.Join(logs, wrapper.LogName("a")))
	if err != nil || info.Size() != size+6 || !r.OK() || !utf8.ValidString(r.Tail) ||
		!strings.HasSuffix(r.Tail, "a\uFFFDb") {
		t.Errorf("got %v, %v, %+v", info, err, r)
	}
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 16<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
}

// The kernel kills a command when the thread that started the command ends. So this
// thread must live as long as the command, also when Go ends other threads.
func TestACommandKeepsItsThread(t *testing.T) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 100 { // goroutines that end with their threads
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				runtime.LockOSThread()
			}()
			<-ended
			runtime.Gosched()
		}
	}()
	tasks := make([]plan.Task, 20)
	for i := range tasks {
		tasks[i] = shell("sleep 0.1; echo alive")
		tasks[i].ID = strconv.Itoa(i)
	}
	results, err := wrapper.Run(t.Context(), tasks, with(path), wrapper.RunOptions{Jobs: 10})
	<-done
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if !r.OK() || r.Tail != "alive" {
			t.Errorf("got %+v", r)
		}
	}
}
