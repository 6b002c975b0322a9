package broken

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A break that a test notices is told apart from one that nothing notices, and from one that cannot be made or built.
func TestTry(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module example.org/m\n\ngo 1.26\n",
		"a.go":      "package a\n\nfunc one() int { return 1 }\nfunc two() int { return 2 }\n",
		"a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestLaw(t *testing.T) {\n\tif one() != 1 {\n\t\tt.Error(\"one\")\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, c := range []struct {
		mutant, want string
		code         int
	}{
		{`{"Name": "m", "File": "a.go", "Was": "return 1", "Instead": "return 3"}`, "m: noticed: ", 0},
		{`{"Name": "m", "File": "a.go", "Was": "return 2", "Instead": "return 3"}`, "m: nothing notices it", 1},
		{`{"Name": "m", "File": "a.go", "Was": "return 1", "Instead": "return x"}`, "m: it does not build", 3},
		{`{"Name": "m", "File": "a.go", "Was": "return", "Instead": "return"}`, `m: m: a.go has "return" 2 times, want once`, 3},
		{`{"Name": "m", "File": "b.go"}`, "m: open b.go", 3},
		{`{"Name": 1}`, "json: cannot unmarshal", 3},
	} {
		var out strings.Builder
		code := Try(t.Context(), &out, []byte("["+c.mutant+"]"), ".")
		if code != c.code || !strings.HasPrefix(out.String(), c.want) {
			t.Errorf("%s: %d, %s; want %d, %s", c.mutant, code, out.String(), c.code, c.want)
		}
	}
}
