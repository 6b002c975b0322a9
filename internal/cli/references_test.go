package cli

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// complete returns what a shell offers for a flag that names a bundle.
func complete(t *testing.T, typed string) string {
	t.Helper()
	cmd := &cobra.Command{Use: "it", RunE: func(*cobra.Command, []string) error { return nil }}
	cmd.Flags().String("base", "", "")
	completeReferences(cmd)
	cmd.SetContext(context.Background())
	f, ok := cmd.GetFlagCompletionFunc("base")
	if !ok {
		t.Fatal("the flag is not completed")
	}
	words, _ := f(cmd, nil, typed)
	return strings.Join(words, " ")
}

func TestCompleteReferences(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if got := complete(t, "git:"); got != "" {
		t.Errorf("outside of a clone: got %q", got)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"},
		{"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"}, {"branch", "other"}} {
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Skipf("git: %v: %s", err, out)
		}
	}
	for typed, want := range map[string]string{"git:": "git:HEAD git:main git:other", "d": "dir:.", "x": "",
		"": "git:HEAD git:main git:other dir:."} {
		if got := complete(t, typed); got != want {
			t.Errorf("%q: got %q, want %q", typed, got, want)
		}
	}
}
