package bundle

import "testing"

// One bundle that is base and head has two names, and the same content under both.
func TestApart(t *testing.T) {
	const text = `{"git_commit":"0123456789012345678901234567890123456789","git_commit_timestamp":"1700000000","data":{"/a.yml":{"$schema":"/a-1.yml"}},"graphql":[],"resources":{}}`
	parse := func(text string) *Bundle {
		t.Helper()
		b, err := Parse([]byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b, other := parse(text), parse(text+"\n")
	if Apart(b, other) != b {
		t.Error("bundles of two names get a third one")
	}
	a := Apart(b, parse(text))
	if a.SHA256() == b.SHA256() || a.Commit() == b.Commit() || a.Timestamp() == b.Timestamp() {
		t.Errorf("both have a name in common: %s, %s, %s", a.SHA256(), a.Commit(), a.Timestamp())
	}
	if len(a.SHA256()) != 64 || len(a.Commit()) != 40 || a.ContentsSHA256() != b.ContentsSHA256() || !a.HasSameGraphQL(b) {
		t.Errorf("got the names %q and %q, or other contents", a.SHA256(), a.Commit())
	}
	if d := Compare(a, b); len(d.Datafiles)+len(d.Resources) != 0 {
		t.Errorf("they differ: %+v", d)
	}
	if again := Apart(b, b); again.SHA256() != a.SHA256() {
		t.Error("the other name is not the same each time")
	}
}
