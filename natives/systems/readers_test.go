package systems

import (
	"reflect"
	"testing"

	"github.com/app-sre/prcheck/doubles/fakes3"
	"github.com/app-sre/prcheck/integration"
)

// What reads cannot be made to write.
func TestReadersOnlyRead(t *testing.T) {
	fakes3.Start(t)
	s := New(Sources{Settings: readSettings(t, "{env: {prefix: APP}}"), Getenv: func(string) string {
		return "some-token"
	}})
	b, err := s.BucketReader(t.Context(), "s3://memory/p")
	if err != nil {
		t.Fatal(err)
	}
	if w, ok := b.(integration.BucketWriter); ok {
		t.Errorf("the reader of a bucket is a writer: %T", w)
	}
	c, err := s.Reader(t.Context(), integration.ClusterRef{Name: "c", Server: "https://c.invalid", Token: theRef})
	if err != nil {
		t.Fatal(err)
	}
	if w, ok := c.(integration.ClusterWriter); ok {
		t.Errorf("the reader of a cluster is a writer: %T", w)
	}
	for _, v := range []any{b, c} {
		for _, name := range []string{"Put", "Remove", "Create", "Apply", "Delete"} {
			if reflect.ValueOf(v).MethodByName(name).IsValid() {
				t.Errorf("%T has the method %s", v, name)
			}
		}
	}
}
