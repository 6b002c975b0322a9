package resources_test

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// An id that is taken apart has a type and a name, and its parent and root are what it begins
// with. Case does not count, and parents can be taken apart too, up to the root.
func FuzzParseID(f *testing.F) {
	for _, seed := range []string{
		"/subscriptions/S", "/subscriptions/S/resourceGroups/rg/providers/Microsoft.Cache/Redis/r/firewallRules/f/",
		"/subscriptions/S/resourceGroups/rg/providers/A/vms/v/providers/B/settings/s", "/providers/M/groups/g",
		"/a/providers/b/c/d", "/providers/providers/providers/providers", "/x/%2F", "/../..",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := resources.ParseID(text)
		if err != nil {
			return
		}
		lower := strings.ToLower(text)
		switch {
		case id.Name == "" || !strings.Contains(id.Type, "/"):
			t.Errorf("%q: got %+v", text, id)
		case !strings.HasPrefix(text, id.Parent) || !strings.HasPrefix(lower, id.Root):
			t.Errorf("%q: it does not begin with its parent or root: %+v", text, id)
		case strings.Contains(text, "/../"), strings.ContainsAny(text, "%?#\\\x00\n"):
			t.Errorf("%q: it is taken", text)
		}
		if id.Parent == "" {
			return
		}
		parent, err := resources.ParseID(id.Parent)
		if err == nil && parent.Root != id.Root {
			t.Errorf("%q: the root is %q, that of its parent %q", text, id.Root, parent.Root)
		}
	})
}

// Whatever paths a specification has, types come of them or not, and no type is its own
// parent.
func FuzzParents(f *testing.F) {
	f.Add("/subscriptions/{s}/providers/A/b/{c}", "/subscriptions/{s}/providers/A/b/{c}/d/{e}", "c")
	f.Add("/apis/g/v/namespaces/{namespace}/things/{name}", "/api/v1/namespaces/{name}", "")
	f.Add("/{scope}/providers/A/{b}/{c}/providers/D/e", "/providers/A", "b")
	f.Add("/a/{b}/a/{b}", "/", "{}")
	f.Fuzz(func(t *testing.T, a, b, parameter string) {
		parents := resources.Parents([]resources.Template{
			{Path: a, Choices: map[string][]string{parameter: {"x", "y"}}}, {Path: b}, {Path: b, IsKubernetes: true},
		})
		for name, parent := range parents {
			if name == "" || strings.EqualFold(name, parent) {
				t.Errorf("%q, %q: %q has the parent %q", a, b, name, parent)
			}
		}
	})
}
