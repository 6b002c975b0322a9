package layers

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// What runs in the pipeline of a merge request holds no writer: only the program reconciler does.
func TestWriters(t *testing.T) {
	for program, has := range map[string]bool{"planner": false, "runner": false, "reconciler": true} {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", module+"/cmd/"+program).Output()
		if err != nil {
			t.Fatal(err)
		}
		deps := strings.Fields(string(out))
		for _, name := range writers {
			if slices.Contains(deps, module+"/"+name) != has {
				t.Errorf("cmd/%s depends on %s: %t, want %t", program, name, !has, has)
			}
		}
	}
}
