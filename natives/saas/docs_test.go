package saas

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// testName matches a test that the documentation names, with its package.
var testName = regexp.MustCompile("`(natives/saas[a-z/]*) (Test[A-Za-z]+)`")

// Each test exists by which docs/saas.md shows that something is better here.
func TestDocumentedTests(t *testing.T) {
	page, err := os.ReadFile("../../docs/saas.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "## Better than")
	named := testName.FindAllStringSubmatch(table, -1)
	if !ok || len(named) < 20 {
		t.Fatalf("docs/saas.md names %d tests", len(named))
	}
	for row := range strings.Lines(table) {
		if strings.HasPrefix(row, "| ") && !strings.HasPrefix(row, "| than") && !testName.MatchString(row) {
			t.Errorf("no test in the row %q", row)
		}
	}
	for _, m := range named {
		files, err := filepath.Glob(filepath.Join("../..", m[1], "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(text), "\nfunc "+m[2]+"(t *testing.T)")
		}
		if !found {
			t.Errorf("there is no %s in %s", m[2], m[1])
		}
	}
}

// Each code of a mistake is in the table of docs/saas.md.
func TestDocumentedCodes(t *testing.T) {
	page, err := os.ReadFile("../../docs/saas.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("codes.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`"(SAAS_[A-Z]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 10 {
		t.Fatalf("got %d codes", len(codes))
	}
	for _, m := range codes {
		if !strings.Contains(string(page), "`"+m[1]+"`") {
			t.Errorf("docs/saas.md does not tell of %s", m[1])
		}
	}
}
