package edit

import (
	"bytes"
	"testing"
)

// A file that gets several changes becomes what the changes make of it one by one, and a change that
// is refused leaves it as it is.
func TestFileGetsSeveralChanges(t *testing.T) {
	f, want := File{Text: []byte(before)}, []byte(before)
	for _, c := range []Change{
		{Template: "web", Namespace: "/ns/prod.yml", Ref: "NEW", Notes: []Note{{"stage", "up", "12e45678"}}},
		{Template: "web", Namespace: "/ns/prod.yml", Ref: "NEW", Notes: []Note{{"stage", "up", "12e45678"}}},
		{Template: "web", Namespace: "/ns/none.yml", Ref: "NEW"},
		{Template: "web", Name: "all", Was: "OTHER", Ref: "NEW"},
		{Template: "web", Name: "all", Ref: "1234567890"},
		{Template: "web", Namespace: "/ns/prod.yml", Was: "NEW", Ref: "NEWER",
			Notes: []Note{{"stage", "up", "cafe"}, {"other", "up", "beef"}}},
	} {
		next, err := Apply(want, c)
		if got := f.Apply(c); (got != nil) != (err != nil) || got != nil && got.Error() != err.Error() {
			t.Errorf("%+v: got %v, want %v", c, got, err)
		}
		if err == nil {
			want = next
		}
		if !bytes.Equal(f.Text, want) {
			t.Fatalf("%+v: got\n%s\nwant\n%s", c, f.Text, want)
		}
	}
	if bytes.Equal(want, []byte(before)) {
		t.Error("nothing changed")
	}
}
