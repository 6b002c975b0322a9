//go:build unix

package state_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/app-sre/prcheck/state"
)

// TestMain runs the tests, or is the process that TestKilledWriters kills: it writes
// without a pause.
func TestMain(m *testing.M) {
	folder := os.Getenv("STATE_TEST_FOLDER")
	if folder == "" {
		os.Exit(m.Run())
	}
	s, err := state.Open(folder)
	for err == nil {
		err = s.Write(context.Background(), "k/written", whole())
		if err == nil {
			err = s.Update(context.Background(), "k/updated", func(old []byte) ([]byte, error) {
				if old != nil && !isWhole(old) {
					return nil, errors.New("half a document")
				}
				return whole(), nil
			})
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// whole returns a random document that ends with its own digest.
func whole() []byte {
	body := bytes.Repeat([]byte{byte(rand.N(256))}, 1000+rand.N(50_000))
	return fmt.Appendf(body, "%x", sha256.Sum256(body))
}

func isWhole(doc []byte) bool {
	at := len(doc) - 2*sha256.Size
	return at >= 0 && fmt.Sprintf("%x", sha256.Sum256(doc[:at])) == string(doc[at:])
}

// Writers that are killed at any moment leave only whole documents, and no lock.
func TestKilledWriters(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	folder := t.TempDir()
	s, err := state.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	const killed, atOnce = 200, 8
	for range killed / atOnce {
		var writers []*exec.Cmd
		for range atOnce {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "STATE_TEST_FOLDER="+folder)
			cmd.Stderr = os.Stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			writers = append(writers, cmd)
		}
		time.Sleep(20*time.Millisecond + rand.N(100*time.Millisecond))
		for _, w := range writers {
			_ = w.Process.Kill()
			if err := w.Wait(); !strings.Contains(fmt.Sprint(err), "killed") {
				t.Errorf("a writer ended with %v", err)
			}
		}
		for _, key := range []string{"k/written", "k/updated"} {
			if raw, err := s.Read(t.Context(), key); !errors.Is(err, state.ErrNotFound) && (err != nil || !isWhole(raw)) {
				t.Errorf("%s has %d bytes and is not whole, %v", key, len(raw), err)
			}
		}
		began := time.Now()
		if err := s.Update(t.Context(), "k/updated", func([]byte) ([]byte, error) { return whole(), nil }); err != nil ||
			time.Since(began) > 5*time.Second {
			t.Errorf("after the dead, an update took %v, %v", time.Since(began), err)
		}
	}
	left, err := filepath.Glob(filepath.Join(folder, "k", ".new-*"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d writers were killed, %d of them left something unfinished", killed, len(left))
	for _, name := range left {
		if err := os.Chtimes(name, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if err := state.Collect(t.Context(), s, state.Limits{}, time.Now()); err != nil {
		t.Fatal(err)
	}
	if left, err = filepath.Glob(filepath.Join(folder, "k", ".new-*")); err != nil || len(left) != 0 {
		t.Errorf("still there: %q, %v", left, err)
	}
}

// Writing to a full disk is an error, and the old document stays.
func TestFullDisk(t *testing.T) {
	folder := mount(t, "size=256k")
	s, err := state.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(t.Context(), "k/a", []byte("old")); err != nil {
		t.Fatal(err)
	}
	large := make([]byte, 1<<20)
	if err := s.Write(t.Context(), "k/a", large); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a write ended with %v", err)
	}
	if err := s.Update(t.Context(), "k/a", func([]byte) ([]byte, error) { return large, nil }); !errors.Is(err,
		syscall.ENOSPC) {
		t.Errorf("an update ended with %v", err)
	}
	if raw, err := s.Read(t.Context(), "k/a"); err != nil || string(raw) != "old" {
		t.Errorf("got %.9q, %v", raw, err)
	}
	if left, err := filepath.Glob(filepath.Join(folder, "k", "*")); err != nil || len(left) != 1 {
		t.Errorf("there are %q, %v", left, err)
	}
	if err := s.Update(t.Context(), "k/a", func([]byte) ([]byte, error) { return []byte("new"), nil }); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// A state on a read-only disk can be read.
func TestReadOnlyDisk(t *testing.T) {
	folder := mount(t, "size=256k")
	s, err := state.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(t.Context(), "k/a", []byte("old")); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-o", "remount,ro", folder).CombinedOutput(); err != nil {
		t.Skipf("mounting: %v: %s", err, out)
	}
	update := s.Update(t.Context(), "k/a", func([]byte) ([]byte, error) { return nil, nil })
	for name, err := range map[string]error{"write": s.Write(t.Context(), "k/a", nil), "update": update,
		"remove": s.Remove(t.Context(), "k/a")} {
		if !errors.Is(err, syscall.EROFS) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	raw, err := s.Read(t.Context(), "k/a")
	list, err2 := s.List(t.Context(), "")
	if err != nil || err2 != nil || string(raw) != "old" || len(list) != 1 {
		t.Errorf("got %q, %v, %v, %v", raw, err, list, err2)
	}
}

// A write waits for a lock that another process holds, but not for ever.
func TestStuckLock(t *testing.T) {
	s, folder := open(t)
	if err := s.Write(t.Context(), "k", []byte("1")); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(folder, ".lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Skipf("no file locks here: %v", err)
	}
	if raw, err := s.Read(t.Context(), "k"); err != nil || string(raw) != "1" {
		t.Errorf("reading waits for it: %q, %v", raw, err)
	}
	s.Patience(50 * time.Millisecond)
	if err := s.Write(t.Context(), "k", nil); !errors.Is(err, state.ErrBusy) {
		t.Errorf("got %v", err)
	}
}

// A named pipe is not a document, and no call waits for its other end.
func TestPipe(t *testing.T) {
	s, folder := open(t)
	if err := s.Write(t.Context(), "other", nil); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	_, err := s.Read(t.Context(), "pipe")
	update := s.Update(t.Context(), "pipe", func([]byte) ([]byte, error) { return nil, nil })
	list, err2 := s.List(t.Context(), "")
	if err == nil || update == nil || err2 != nil || len(list) != 1 {
		t.Errorf("got %v, %v, %v, %v", err, update, list, err2)
	}
}

// mount mounts a small file system in memory and returns its folder.
func mount(t *testing.T, options string) string {
	t.Helper()
	folder := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "prcheck-test",
		folder).CombinedOutput(); err != nil {
		t.Skipf("no disk to fill: mounting: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", folder).CombinedOutput(); err != nil {
			t.Errorf("unmounting: %v: %s", err, out)
		}
	})
	return folder
}
