package validate_test

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/validate"
)

// Any body has a bounded answer, and the same one each time.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{` + required +
			`, "door": {"kind": "Slide", "hinge": 1e400}, "animals": [{"name": {"a": []}}, {"name": null}, 1, [[]]]}}`,
		`{"properties": {"code": "\u0000", "ahead": "x", "port": 1.5, "free": {"~/": null}, "password": ["a"]}, "tags": {"": 0}}`, `[]`, `null`, `1e-400`,
	} {
		f.Add([]byte(seed))
	}
	typ := zoo(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := body.Parse(raw)
		if err != nil {
			return
		}
		first, second := typ.Check(validate.Body{Value: v}), typ.Check(validate.Body{Value: v})
		if len(first) != len(second) || len(first) > 200 {
			t.Errorf("got %d and %d findings", len(first), len(second))
		}
		for i, f := range first {
			if f.Message == "" || f.Code == "" || f.Pointer != "" && !strings.HasPrefix(f.Pointer, "/") ||
				f.Pointer != second[i].Pointer {
				t.Errorf("got %+v and %+v", f, second[i])
			}
		}
	})
}
