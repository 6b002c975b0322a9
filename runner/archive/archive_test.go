package archive_test

import (
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/fakes3"
	"github.com/app-sre/prcheck/internal/objects"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/archive"
	"github.com/app-sre/prcheck/wrapper"
)

// logStore starts a bucket and returns the log store in its folder run.
func logStore(t *testing.T) (*fakes3.Server, archive.LogStore) {
	t.Helper()
	s := fakes3.Start(t)
	b, err := objects.Open(t.Context(), fakes3.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	return s, archive.LogStore{Bucket: b, Folder: "run"}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Error(err)
	}
	return string(raw)
}

// resultsWith returns results that name every kind of log, under a prefix.
func resultsWith(prefix string) []plan.Result {
	second := func(task string) string { return strings.TrimSuffix(wrapper.LogName(task), ".log") + ".2.log" }
	return []plan.Result{
		{Task: "a", Log: path.Join(prefix, second("a")),
			Before:   []plan.Attempt{{Log: path.Join(prefix, wrapper.LogName("a"))}},
			Baseline: &plan.Baseline{Log: path.Join(prefix, "base", wrapper.LogName("a"))}},
		{Task: "../b", Log: path.Join(prefix, wrapper.LogName("../b"))},
		{Task: "silent"},
	}
}

func names(results []plan.Result) []string {
	var out []string
	for _, r := range results {
		out = append(out, r.Log)
		for _, b := range r.Before {
			out = append(out, b.Log)
		}
		if r.Baseline != nil {
			out = append(out, r.Baseline.Log)
		}
	}
	return out
}

// Logs that were stored can be fetched: of all attempts, and of runs on base.
func TestStoreAndFetch(t *testing.T) {
	for _, prefix := range []string{"logs", "base", "a b"} {
		_, p := logStore(t)
		from, to := filepath.Join(t.TempDir(), prefix), filepath.Join(t.TempDir(), "deep", "kept")
		stored := resultsWith(prefix)
		for _, name := range names(stored) {
			if name != "" {
				write(t, filepath.Join(filepath.Dir(from), name), "text of "+name)
			}
		}
		write(t, filepath.Join(to, wrapper.LogName("../b")), "of an earlier run")
		if err := p.Store(t.Context(), from, stored); err != nil {
			t.Fatal(err)
		}
		fetched := resultsWith(prefix)
		if err := p.Fetch(t.Context(), prefix, to, fetched); err != nil {
			t.Fatal(err)
		}
		if got, want := names(fetched), names(resultsWith("kept")); !slices.Equal(got, want) {
			t.Errorf("the results name %q, want %q", got, want)
		}
		for i, name := range names(fetched) {
			if name == "" {
				continue
			}
			if got, want := read(t, filepath.Join(filepath.Dir(to), name)), "text of "+names(stored)[i]; got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	}
}

// A name that no log of the task can have is never used as a path.
func TestHostileNames(t *testing.T) {
	s, p := logStore(t)
	good, stem := wrapper.LogName("a"), strings.TrimSuffix(wrapper.LogName("a"), ".log")
	dir := t.TempDir()
	outside := filepath.Join(dir, "precious")
	write(t, outside, "keep")
	s.Put("precious", "evil")
	s.Put("run/logs/"+good, "good")
	for _, name := range []string{"../precious", "logs/../../precious", "/etc/passwd", outside, "logs/../" + good,
		"logs//" + good, "./logs/" + good,
		"logs/" + wrapper.LogName("other"), "logs/base/../" + good, "logs/base/base/" + good, "other/" + good, good,
		"logs/" + good + "/..",
		"logs/" + stem + ".0.log", "logs/" + stem + ".22.log", "logs/" + stem, "logs/" + stem + ".log\x00", "logs\\" + good,
		"logs/", ".", "..", "\xff",
	} {
		results := []plan.Result{{Task: "a", Log: name}}
		if err := p.Fetch(t.Context(), "logs", filepath.Join(dir, "kept"), results); err == nil ||
			!strings.Contains(err.Error(),
				`1 of 1 logs could not be fetched from the bucket; the first is of task "a": no log of this task can have this name`) {
			t.Errorf("fetching %q: got %v", name, err)
		}
		if results[0].Log != "" {
			t.Errorf("%q became %q", name, results[0].Log)
		}
		if err := p.Store(t.Context(), dir, []plan.Result{{Task: "a", Log: name}}); err == nil {
			t.Errorf("%q was stored", name)
		}
	}
	if got := read(t, outside); got != "keep" {
		t.Errorf("got %q outside", got)
	}
	if got := s.Keys(); !slices.Equal(got, []string{"precious", "run/logs/" + good}) {
		t.Errorf("the bucket has %q", got)
	}
}

// Links are not followed: not out of the folder, and not from base to head.
func TestLinks(t *testing.T) {
	s, p := logStore(t)
	dir := t.TempDir()
	outside := filepath.Join(dir, "precious")
	write(t, outside, "secret")
	log := wrapper.LogName("a")
	if err := os.Mkdir(filepath.Join(dir, "logs"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "logs", log)); err != nil {
		t.Fatal(err)
	}
	results := []plan.Result{{Task: "a", Log: "logs/" + log}}
	if err := p.Store(t.Context(), filepath.Join(dir, "logs"), results); err == nil || len(s.Keys()) > 0 {
		t.Errorf("a link was stored: %v, %q", err, s.Keys())
	}
	s.Put("run/logs/"+log, "new")
	if err := p.Fetch(t.Context(), "logs", filepath.Join(dir, "logs"), results); err != nil {
		t.Error(err)
	}
	if read(t, outside) != "secret" || read(t, filepath.Join(dir, "logs", log)) != "new" {
		t.Error("the log went where the link leads")
	}
	if err := os.Symlink(".", filepath.Join(dir, "logs", "base")); err != nil {
		t.Fatal(err)
	}
	s.Put("run/logs/base/"+log, "of base")
	results = []plan.Result{{Task: "a", Baseline: &plan.Baseline{Log: "logs/base/" + log}}}
	if err := p.Fetch(t.Context(), "logs", filepath.Join(dir, "logs"), results); !strings.Contains(fmt.Sprint(err),
		"a symbolic link is not followed") {
		t.Errorf("got %v", err)
	}
	if read(t, filepath.Join(dir, "logs", log)) != "new" {
		t.Error("a log of base replaced one of head")
	}
}

// A log that cannot be copied is an error and is no longer named. The others are copied.
func TestMissingLogs(t *testing.T) {
	s, p := logStore(t)
	from := filepath.Join(t.TempDir(), "logs")
	write(t, filepath.Join(from, wrapper.LogName("b")), "b")
	results := []plan.Result{{Task: "a", Log: "logs/" + wrapper.LogName("a")},
		{Task: "b", Log: "logs/" + wrapper.LogName("b")}}
	if err := p.Store(t.Context(), from, results); err == nil ||
		!strings.HasPrefix(err.Error(), `1 of 2 logs could not be stored in the bucket; the first is of task "a": `) {
		t.Errorf("got %v", err)
	}
	to := filepath.Join(t.TempDir(), "logs")
	if err := p.Fetch(t.Context(), "logs", to, results); err == nil ||
		!strings.HasPrefix(err.Error(),
			`1 of 2 logs could not be fetched from the bucket; the first is of task "a": there is no such object`) {
		t.Errorf("got %v", err)
	}
	if results[0].Log != "" || results[1].Log == "" || read(t, filepath.Join(to, wrapper.LogName("b"))) != "b" {
		t.Errorf("got %+v", results)
	}
	s.Put("run/logs/"+wrapper.LogName("a"), "all of it")
	s.Fail(func(*http.Request) fakes3.Fault { return fakes3.Fault{Cut: true} })
	results[0].Log = "logs/" + wrapper.LogName("a")
	if err := p.Fetch(t.Context(), "logs", to, results[:1]); err == nil || results[0].Log != "" {
		t.Errorf("half a log: got %v, %+v", err, results[0])
	}
	if files, _ := os.ReadDir(to); len(files) != 1 {
		t.Errorf("something is left over: %v", files)
	}
}

// A bucket that is down is not asked for every log.
func TestBucketIsDown(t *testing.T) {
	s, p := logStore(t)
	s.Fail(func(*http.Request) fakes3.Fault { return fakes3.Fault{Status: http.StatusServiceUnavailable} })
	var results []plan.Result
	for _, task := range strings.Split(strings.Repeat("x", 200), "") {
		task += strings.Repeat("y", len(results))
		results = append(results, plan.Result{Task: task, Log: "logs/" + wrapper.LogName(task)})
	}
	err := p.Fetch(t.Context(), "logs", t.TempDir(), results)
	if err == nil || !strings.HasPrefix(err.Error(), "200 of 200 logs could not be fetched") || s.Requests() > 50 {
		t.Errorf("got %v after %d requests", err, s.Requests())
	}
}
