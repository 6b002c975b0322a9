package native_test

import (
	"os"
	"strings"
	"testing"
)

// The integration in docs/natives.md is the one that the example compiles and runs.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/natives.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```go\n")
	got, _, ok := strings.Cut(rest, "```\n")
	want := strings.Replace(string(code), "package native_test", "package shelves", 1)
	if !ok || got != want {
		t.Errorf("docs/natives.md does not hold natives/native/example_test.go as package shelves; write it there anew")
	}
}
