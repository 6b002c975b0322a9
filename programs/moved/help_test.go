package moved_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/script"
)

// commands returns the commands that the help of a command lists.
func commands(help string) []string {
	_, list, ok := strings.Cut(help, "Available Commands:\n")
	if !ok {
		return nil
	}
	list, _, _ = strings.Cut(list, "\n\n")
	var out []string
	for line := range strings.Lines(list) {
		if name := strings.Fields(line)[0]; !slices.Contains([]string{"help", "completion", "version"}, name) {
			out = append(out, name)
		}
	}
	return out
}

// maxListed is how many commands the help of all three programs lists together: they fit in a head.
const maxListed = 34

// Every command that people see has an example, and the three programs list few of them.
func TestHelp(t *testing.T) {
	dir := script.Programs(t)
	listed := 0
	for _, program := range []string{"planner", "runner", "reconciler"} {
		var visit func(args ...string)
		visit = func(args ...string) {
			raw, err := exec.CommandContext(t.Context(), filepath.Join(dir, program), append(args, "--help")...).Output()
			if err != nil {
				t.Fatalf("%s %q: %v", program, args, err)
			}
			help := string(raw)
			below := commands(help)
			if len(args) == 0 {
				listed += len(below)
			}
			if len(below) == 0 && !strings.Contains(help, "\nExamples:\n  "+program+" ") {
				t.Errorf("%s %s has no example that begins with the program", program, strings.Join(args, " "))
			}
			for _, name := range below {
				visit(append(slices.Clone(args), name)...)
			}
		}
		visit()
	}
	if listed > maxListed {
		t.Errorf("%d commands are listed, and %d fit in a head: put one below another, or make it a flag", listed, maxListed)
	}
}
