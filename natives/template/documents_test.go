package template

import (
	"strings"
	"testing"
)

func TestReadDocuments(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     int
		wrong    string
	}{
		{"nothing", "", 0, ""},
		{"empty documents", "---\n---\nnull\n---\n# x\n", 0, ""},
		{"two documents", "a: 1\n---\nb: 2\n", 2, ""},
		{"too many", strings.Repeat("---\na: 1\n", 4), 0, "it has more than 3 documents"},
		{"a broken one", "a: 1\n---\nb: [", 0, "f.yml: line "},
		{"too large", strings.Repeat("#", maxDocument+1), 0, "it is larger than 8 MiB"},
	} {
		docs, err := ReadDocuments("f.yml", []byte(c.in), 3)
		if len(docs) != c.want || (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: got %d documents and the error %v", c.name, len(docs), err)
		}
	}
}
