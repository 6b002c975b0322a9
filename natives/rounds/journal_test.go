package rounds

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
)

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// A journal is continued on a new line, also after a line that was cut off.
func TestJournalContinues(t *testing.T) {
	for _, before := range []string{"", "{}\n", `{"key":"cut o`} {
		name := filepath.Join(t.TempDir(), "journal")
		if err := os.WriteFile(name, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			j, err := OpenJournal(name, "it")
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(j.add(integration.Deed{Key: "a", Action: "create", Status: "done"}), j.Close()); err != nil {
				t.Error(err)
			}
		}
		text := read(t, name)
		if n := strings.Count(text, `","integration":"it","key":"a","action":"create","status":"done"}`+"\n"); n != 2 ||
			!strings.HasPrefix(text, before) {
			t.Errorf("%q: got %q", before, text)
		}
		if n := strings.Count(text, "\n{\"time\""); n != 2 && before != "" {
			t.Errorf("%q: the lines are not apart: %q", before, text)
		}
	}
}

// Only a regular file is a journal: a link could lead to any file.
func TestJournalFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"folder", "no/such/file", "/dev/null"} {
		if name != "/dev/null" {
			name = filepath.Join(dir, name)
		}
		if j, err := OpenJournal(name, "it"); err == nil {
			t.Errorf("%s was opened", name)
			_ = j.Close()
		}
	}
}

// When the journal cannot be written, no further step starts.
func TestJournalFails(t *testing.T) {
	in, _ := input(fake{run: func(ctx context.Context, _ integration.Environment, act integration.Actors) error {
		act.Did(integration.Deed{Key: "a", Action: "create", Status: "done"})
		if ctx.Err() == nil {
			t.Error("the integration is not told")
		}
		return ctx.Err()
	}})
	journal, err := OpenJournal(filepath.Join(t.TempDir(), "journal"), "it")
	if err != nil {
		t.Fatal(err)
	}
	_ = journal.Close()
	in.Journal = journal
	r := once(t, in, Orders{Writes: true})
	if r.Outcome != Failed || !strings.Contains(strings.Join(r.Errors, "\n"),
		"the journal cannot be written, so no further step starts") {
		t.Errorf("got %s, %q", r.Outcome, r.Errors)
	}
}
