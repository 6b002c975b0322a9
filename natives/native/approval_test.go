package native_test

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/reconcile"
)

// The data can allow deletions. Those of base count, so a change cannot approve itself.
func TestApprovalsOfTheData(t *testing.T) {
	const four = `"a": {"a-1": "!", "a-2": "!", "a-3": "!", "a-4": "!", "a-5": "Atlas"}`
	with := func(until string) string { return `{"approvals": {"a-1": "` + until + `"}, ` + four + `}` }
	for name, c := range map[string]struct{ base, head, want string }{
		"none":                    {"", "{" + four + "}", "TOO_MANY_DELETES"},
		"of what is merged":       {"", with("2026-11-22"), "delete a-4"},
		"its day is over":         {"", with("2026-11-21"), "TOO_MANY_DELETES"},
		"of the change itself":    {"{" + four + "}", with("2026-12-31"), "TOO_MANY_DELETES"},
		"of base":                 {with("2026-12-31"), "{" + four + "}", "delete a-4"},
		"without a day that ends": {"", with("for ever"), "APPROVAL_WITHOUT_DATE"},
	} {
		s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
		for _, k := range []reconcile.Key{"a-1", "a-2", "a-3", "a-4", "a-5"} {
			s.put(k, bookOf("a"))
		}
		said, err := s.run(t, c.base, c.head, true, nil)
		if err != nil || !strings.Contains(said, c.want) || strings.Contains(said, "delete a-4") != (c.want == "delete a-4") {
			t.Errorf("%s: got %q, %v, want %s", name, said, err, c.want)
		}
	}
}
