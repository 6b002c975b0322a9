package names_test

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/names"
)

func TestNames(t *testing.T) {
	for _, test := range []struct {
		name        string
		plain, tool bool
	}{
		{"terraform-users", true, true},
		{"a", true, true},
		{"7", true, true},
		{"Terraform_users.v2", true, false},
		{"a--b", true, false}, // two hyphens would begin the end of an HTML comment
		{"a-", true, false},
		{strings.Repeat("a", 40), true, true},
		{strings.Repeat("a", 41), true, false},
		{"", false, false},
		{"-a", false, false},
		{"--no-dry-run", false, false},
		{".a", false, false},
		{"..", false, false},
		{"_a", false, false},
		{"a b", false, false},
		{"a\n", false, false},
		{"a\nb", false, false},
		{"a\x00", false, false},
		{"a/b", false, false},
		{`a\b`, false, false},
		{"{shard}", false, false},
		{"a{b}", false, false},
		{"$a", false, false},
		{"a;b", false, false},
		{"a'b", false, false},
		{"a>b", false, false},
		{"ä", false, false},
		{"a\u202eb", false, false},
	} {
		if got := names.IsPlain(test.name); got != test.plain {
			t.Errorf("IsPlain(%q) is %t", test.name, got)
		}
		if got := names.IsTool(test.name); got != test.tool {
			t.Errorf("IsTool(%q) is %t", test.name, got)
		}
	}
}
