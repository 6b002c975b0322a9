package bundle

import (
	"strings"
	"testing"
)

// TestContentsSHA256 checks which changes of a bundle change the hash of its contents and
// the hash of its types.
func TestContentsSHA256(t *testing.T) {
	const base = `{"git_commit":"1","git_commit_timestamp":"2","data":{"/a.yml":{"$schema":"/s.yml","x":1},"/b.yml":{"$schema":"/s.yml"}},` +
		`"resources":{"/r":{"path":"/r","content":"c","sha256sum":"0"}},"schemas":{"/s.yml":{"type":"object"}},"graphql":[]}`
	parsed := func(text string) *Bundle {
		b, err := ParseUnchecked([]byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	was := parsed(base)
	for name, c := range map[string]struct {
		text            string
		contents, types bool // are the same
	}{
		"the same":         {base, true, true},
		"another commit":   {swap(t, base, `"git_commit":"1"`, `"git_commit":"9"`), true, true},
		"a datafile":       {swap(t, base, `"x":1`, `"x":2`), false, true},
		"a datafile moved": {swap(t, base, `"/b.yml"`, `"/c.yml"`), false, true},
		"a resource":       {swap(t, base, `"content":"c"`, `"content":"d"`), false, true},
		"a schema":         {swap(t, base, `"type":"object"`, `"type":"array"`), false, false},
		"the types":        {swap(t, base, `"graphql":[]`, `"graphql":[ ]`), false, false},
		"no resources":     {swap(t, base, `"/r":{"path":"/r","content":"c","sha256sum":"0"}`, ``), false, true},
	} {
		is := parsed(c.text)
		if got := is.ContentsSHA256() == was.ContentsSHA256(); got != c.contents {
			t.Errorf("%s: same contents: got %v, want %v", name, got, c.contents)
		}
		if got := is.TypesSHA256() == was.TypesSHA256(); got != c.types {
			t.Errorf("%s: same types: got %v, want %v", name, got, c.types)
		}
	}
}

func swap(t *testing.T, text, from, to string) string {
	t.Helper()
	out := strings.Replace(text, from, to, 1)
	if out == text {
		t.Fatalf("%q is not in it", from)
	}
	return out
}
