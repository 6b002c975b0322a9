package live

import (
	"strings"
	"testing"
)

const sha = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

func TestParseRef(t *testing.T) {
	for _, c := range []struct{ ref, server, err string }{
		{"http://s.example:4000/graphqlsha/" + sha, "http://s.example:4000", ""},
		{"https://s.example/deep/er/graphqlsha/" + sha + "/", "https://s.example/deep/er", ""},
		{"http://[::1]:4000/graphqlsha/" + sha, "http://[::1]:4000", ""},
		{"http://me:hunter2@s.example/graphqlsha/" + sha, "", "must not hold a user or password"},
		{"http://hunter2@s.example/graphqlsha/" + sha, "", "must not hold a user or password"},
		{"http://s.example/graphqlsha/" + sha + "?token=hunter2", "", "must not hold a ?"},
		{"http://s.example/graphqlsha/" + sha + "#hunter2", "", "must not hold a ? or #"},
		{"http://s.example/graphql", "", "names no bundle"},
		{"http://s.example/graphqlsha/short", "", `"short" is not the sha256`},
		{"http://s.example/graphqlsha/" + strings.ToUpper(sha), "", "is not the sha256"},
		{"http://s.example/graphqlsha/" + sha + "/more", "", "is not the sha256"},
		{"http:///graphqlsha/" + sha, "", "names no server"},
		{"http://a:hunter2%zz@s/graphqlsha/" + sha, "", "not an address"},
		{"base.json", "", "not an address"},
	} {
		got, err := ParseRef(c.ref)
		switch {
		case c.err == "" && (err != nil || got != Ref{c.server, sha}):
			t.Errorf("%s: got %v, %v", c.ref, got, err)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "hunter2")):
			t.Errorf("%s: got %v, want %s", c.ref, err, c.err)
		}
	}
}

// A parsed reference has a String that parses to the same reference, and contains no
// secret.
func FuzzParseRef(f *testing.F) {
	f.Add("http://s.example/graphqlsha/" + sha)
	f.Add("https://u:p@s/x/graphqlsha/" + sha + "?a#b")
	f.Fuzz(func(t *testing.T, ref string) {
		r, err := ParseRef(ref)
		if err != nil {
			return
		}
		again, err := ParseRef(r.String())
		if err != nil || again != r || strings.ContainsAny(r.String(), "?#") {
			t.Errorf("%q: got %v, then %v, %v", ref, r, again, err)
		}
	})
}
