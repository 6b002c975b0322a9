package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// TestContentsAreBounded checks that values are left out once the files have too many.
func TestContentsAreBounded(t *testing.T) {
	const files = maxContents/(2*maxValue) + 100
	side := func(word string) string {
		var out strings.Builder
		for i := range files {
			fmt.Fprintf(&out, `,"/%d.yml":{"$schema":"/s","x":"%s"}`, i, strings.Repeat(word, maxValue))
		}
		return `{"data":{` + out.String()[1:] + `},"graphql":[],"resources":{"/r":{"path":"/r","sha256sum":"1","content":"` +
			word + `"}}}`
	}
	base, err := bundle.Parse([]byte(side("a")), nil)
	if err != nil {
		t.Fatal(err)
	}
	head, err := bundle.Parse([]byte(side("b")), base)
	if err != nil {
		t.Fatal(err)
	}
	c := NewContents(bundle.Compare(base, head), Hidden{})
	if n := len(c.Datafiles); n < files/2 || n > maxContents/(2*maxValue) || len(c.Resources) != 0 {
		t.Errorf("got the values of %d of %d files, and of %d resources", n, files, len(c.Resources))
	}
}
