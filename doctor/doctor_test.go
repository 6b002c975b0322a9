package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
)

func TestCompareClock(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name   string
		theirs time.Duration // after the request
		took   time.Duration
		want   Level
		said   string
	}{
		{"the same", 0, 0, OK, "agrees"},
		{"within the time of a slow request", 40 * time.Second, time.Minute, OK, "agrees"},
		{"rounded to a second", -time.Second, 0, OK, "agrees"},
		{"a little behind", -20 * time.Second, 0, OK, "agrees"},
		{"behind", -time.Minute, 0, Warn, "by 1m0s"},
		{"ahead", 2 * time.Minute, time.Second, Warn, "by 1m59s"},
		{"far behind", -time.Hour, 0, Fail, "by 1h0m0s"},
		{"far ahead", 24 * time.Hour, 0, Fail, "by 24h0m0s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &examination{}
			e.compareClock("it", now.Add(c.theirs), now, now.Add(c.took))
			if f := e.found[0]; len(e.found) != 1 || f.Level != c.want || !strings.Contains(f.What, c.said) {
				t.Errorf("got %+v, want %s and %q", e.found, c.want, c.said)
			}
		})
	}
}

func TestErr(t *testing.T) {
	ok, warn, fail, away := Finding{}, Finding{Level: Warn}, Finding{Level: Fail}, Finding{Level: Fail, Unreachable: true}
	for _, c := range []struct {
		name  string
		found []Finding
		want  int
	}{
		{"nothing", nil, cli.ExitOK},
		{"good", []Finding{ok, warn}, cli.ExitOK},
		{"failed", []Finding{ok, fail, warn}, cli.ExitFailed},
		{"not answered", []Finding{fail, away}, cli.ExitTrouble},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := cli.Env{Stderr: new(bytes.Buffer)}
			got := cli.Run(t.Context(), "planner", env, func(context.Context, cli.Env) error {
				return Report{Findings: c.found}.Err()
			})
			if got != c.want {
				t.Errorf("got exit code %d, want %d", got, c.want)
			}
		})
	}
}

// A store whose documents change, vanish or cannot be written is told.
func TestProbe(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name  string
		store faulty
		want  string // "" when all is good
	}{
		{"good", faulty{}, ""},
		{"no write", faulty{write: broken}, "written"},
		{"no read", faulty{read: broken}, "read"},
		{"another document", faulty{other: true}, "read"},
		{"no list", faulty{list: broken}, "listed"},
		{"no removal", faulty{remove: broken}, "removed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder, err := state.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			c.store.Store = folder
			e := &examination{Input: Input{Now: time.Now}}
			e.probe(t.Context(), c.store)
			left, err := folder.List(t.Context(), "")
			if err != nil || len(left) > 0 && c.store.remove == nil {
				t.Errorf("documents are left: %v, %v", left, err)
			}
			if c.want == "" {
				if len(e.found) != 2 || e.found[0].Level != OK || e.found[1].Level != OK {
					t.Errorf("got %+v", e.found)
				}
				return
			}
			if f := e.found[0]; f.Level != Fail || !strings.Contains(f.What, "cannot be "+c.want) {
				t.Errorf("got %+v, want that it cannot be %s", f, c.want)
			}
		})
	}
}

// A faulty store is a store some of whose calls fail.
type faulty struct {
	state.Store
	write, read, list, remove error
	other                     bool
}

func (s faulty) Write(ctx context.Context, key string, raw []byte) error {
	if s.write != nil {
		return s.write
	}
	return s.Store.Write(ctx, key, raw)
}

func (s faulty) Read(ctx context.Context, key string) ([]byte, error) {
	if s.read != nil {
		return nil, s.read
	}
	raw, err := s.Store.Read(ctx, key)
	if s.other {
		raw = append(raw, '!')
	}
	return raw, err
}

func (s faulty) List(ctx context.Context, folder string) ([]state.Entry, error) {
	if s.list != nil {
		return nil, s.list
	}
	return s.Store.List(ctx, folder)
}

func (s faulty) Remove(ctx context.Context, key string) error {
	if s.remove != nil {
		return s.remove
	}
	return s.Store.Remove(ctx, key)
}

// Whatever errors say, a finding is one bounded line without secrets and escape sequences.
func TestHarmless(t *testing.T) {
	const secret = "hunter2-hunter2"
	state := State{
		Place: "s3://x/y",
		Check: func(context.Context, source.OpenedSettings, string) (string, error) {
			return "", errors.New("with " + secret + "\n\x1b[31mred" + strings.Repeat("x", 5000))
		},
		SigningKey: func() (string, error) { return "", errors.New("aHVudGVyMi1odW50ZXIy") }, // base64 of the secret
	}
	r, err := Examine(t.Context(), Input{
		Dir: t.TempDir(), State: state, Secrets: []string{secret}, Now: time.Now,
		Getenv: func(string) string { return "" }, FindProgram: func(string) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := errors.Join(r.WriteText(&out), r.WriteJSON(&out)); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{secret, "aHVudGVyMi1odW50ZXIy", "\x1b", strings.Repeat("x", maxText)} {
		if strings.Contains(out.String(), bad) {
			t.Errorf("the report shows %.40q:\n%.2000s", bad, out.String())
		}
	}
	if !strings.Contains(out.String(), "the state cannot be used: with ***") {
		t.Errorf("the report does not tell of the state:\n%.2000s", out.String())
	}
}

// What the cache takes of the disk is told with the folder to remove, for all checkouts and this one.
func TestCheckDisk(t *testing.T) {
	cache := t.TempDir()
	e := &examination{}
	e.Open.Cache = cache
	if e.checkDisk(t.Context()); len(e.found) > 0 {
		t.Errorf("got %+v of an empty cache", e.found)
	}
	for _, root := range []string{"/a", "/b"} {
		s, err := state.Open(source.StateOf(cache, root))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Write(t.Context(), "traces/x", make([]byte, 3<<19)); err != nil {
			t.Fatal(err)
		}
	}
	e.checkDisk(t.Context())
	want := []Finding{{
		Check: "disk", What: "what runner precheck remembers of 2 checkouts, 3.0 MiB, of which 0 KiB for this one",
		Remedy: fmt.Sprintf("to free it, while no check runs: rm -rf %q", source.StatesIn(cache)),
	}}
	if !slices.Equal(e.found, want) {
		t.Errorf("got %+v, want %+v", e.found, want)
	}
}

// A native needs no program and no variable of a command; others do.
func TestProgramsOfNatives(t *testing.T) {
	rules, err := settings.Read("prcheck.yaml", []byte("version: 1\nintegrations:\n  mine: {native: shelves}\n"))
	if err != nil {
		t.Fatal(err)
	}
	e := &examination{Input: Input{Natives: []integration.DryRunner{idle{}}, FindProgram: func(string) error {
		return errors.New("no")
	}, Getenv: func(string) string { return "" }}}
	e.settings = &source.OpenedSettings{Settings: rules}
	for _, name := range []string{"mine", "shelves", "theirs"} {
		e.list = append(e.list, integration.Definition{Name: name, Check: &integration.Check{}})
	}
	e.checkPrograms(t.Context())
	e.checkVariables(t.Context())
	if len(e.found) != 1 || e.found[0].What != "nothing says what to start for 1 integration: theirs" {
		t.Errorf("got %+v", e.found)
	}
}

// An idle native does nothing.
type idle struct{}

func (idle) Name() string                                          { return "shelves" }
func (idle) DryRun(context.Context, integration.Environment) error { return nil }

// A host is told that the data need, that the settings lack, or that they name for nothing.
func TestHosts(t *testing.T) {
	e := &examination{}
	e.tellHosts("deploy", []integration.HostUse{{Host: "git.example.net", For: "repositories"},
		{Host: "quay.io", For: "images", Missing: "it gets no login"}, {Host: "old.example.net"}})
	var got []string
	for _, f := range e.found {
		got = append(got, fmt.Sprintf("%s %s", f.Level, f.What))
	}
	want := []string{"warn deploy: the data name quay.io (images), and the settings do not: it gets no login",
		"warn deploy: the settings allow old.example.net, and no data name it",
		"ok deploy asks git.example.net (repositories)"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if _, err := usesOf(t.Context(), panicking{}, nil, settings.Integration{}); err == nil {
		t.Error("a panic is no error")
	}
}

// A panicking native panics.
type panicking struct{}

func (panicking) UsesHosts(context.Context, integration.QueryFunc,
	settings.Integration) ([]integration.HostUse, error) {
	panic("no")
}
