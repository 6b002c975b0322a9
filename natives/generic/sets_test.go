package generic

import (
	"testing"

	"github.com/app-sre/prcheck/natives/generic/rules"
)

// A creation names the values of its body, one by one, and of a list as a whole; what stands for a secret is none.
func TestLeavesOf(t *testing.T) {
	got := map[string]string{}
	for _, c := range leavesOf("", map[string]any{"a": map[string]any{"b": "x", "none": nil}, "list": []any{"y"},
		"empty": map[string]any{}, "secret": rules.Hidden, "deep": []any{map[string]any{"key": rules.Hidden}}}) {
		got[c.Path] = string(c.To)
		if c.Secret {
			got[c.Path] = "a secret"
		}
	}
	want := map[string]string{"/a/b": `"x"`, "/list": `["y"]`, "/empty": "{}", "/secret": "a secret", "/deep": "a secret"}
	if len(got) != len(want) {
		t.Errorf("got %v", got)
	}
	for path, value := range want {
		if got[path] != value {
			t.Errorf("%s is %q, want %q", path, got[path], value)
		}
	}
}
