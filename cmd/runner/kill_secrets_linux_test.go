package main

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/script"
	"github.com/app-sre/prcheck/source"
)

var secretKills = flag.Int("secret-kills", 12, "how often TestKilledLeavesNoSecret kills the runner")

// A runner that is killed at any moment leaves no secret in any file: the config files of
// its tasks are gone, whether the guard or the worker was killed.
func TestKilledLeavesNoSecret(t *testing.T) {
	t.Parallel()
	const secret = "s3cr/t-canary\"Xk29"
	s := newSite(t, 60, func(string, string, int) []string {
		return []string{"/bin/sh", "-c", `cat "$0"; sleep 0.05`, "{config}"}
	})
	temp := filepath.Join(s.dir, "tmp")
	s.env = []string{"TMPDIR=" + temp, "DB_PASSWORD=" + secret}
	s.configure(t,
		"version: 1\nexec: {argv: [unused], config: 'password={env.DB_PASSWORD}', env: {GORACE: atexit_sleep_ms=0}}\n")
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		*secretKills = min(*secretKills, 4)
	}
	held := 0
	for i := range *secretKills {
		cmd, said := s.start(t)
		if i < 2 { // the first kills come while a config file is there, however slow the machine is
			for end := time.Now().Add(20 * time.Second); len(s.holding(t, temp, secret)) == 0 && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
		} else {
			time.Sleep(30*time.Millisecond + rand.N(250*time.Millisecond))
		}
		if len(s.holding(t, temp, secret)) > 0 {
			held++
		}
		victim := cmd.Process.Pid
		if i%2 == 0 {
			victim = worker(t, victim)
		}
		_ = syscall.Kill(victim, syscall.SIGKILL)
		_ = cmd.Wait() // until the last process has closed the output
		s.awaitLock(t)
		if names := s.holding(t, s.dir, secret); len(names) > 0 {
			t.Fatalf("kill %d: %q hold the secret; %s", i, names, said)
		}
		if left, err := filepath.Glob(filepath.Join(temp, "*", "*")); err != nil || len(left) > 0 {
			t.Fatalf("kill %d: the folder for temporary files has %q, %v", i, left, err)
		}
	}
	if held == 0 {
		t.Error("no kill came while a config file was there, so nothing was tested")
	}
}

// configure replaces the settings of the plan.
func (s *site) configure(t *testing.T, settings string) {
	t.Helper()
	name := filepath.Join(s.dir, "prcheck.yaml")
	write(t, name, settings)
	read, err := source.ReadSettings(name)
	if err != nil {
		t.Fatal(err)
	}
	s.plan.Config = read.Digest()
	s.write(t)
}

// awaitLock waits until no process holds the journal.
func (s *site) awaitLock(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(s.dir, "results.jsonl"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
}

// holding returns the files in a folder that hold a secret in any form. Files that are
// removed meanwhile do not count.
func (s *site) holding(t *testing.T, folder, secret string) (names []string) {
	t.Helper()
	_ = filepath.WalkDir(folder, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		raw, _ := os.ReadFile(name)
		if script.Holds(string(raw), secret) != "" {
			names = append(names, name)
		}
		return nil
	})
	return names
}
