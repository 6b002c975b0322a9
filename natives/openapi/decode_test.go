package openapi_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/openapi"
)

// Decode reads what ParseValue reads, and makes the same mistakes.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{"", "{", `{"a": [1, -2.50e3, "x\u0041", null, true, {}], "b": {"~": []}}`,
		`{"a":1,"a":2}`, "[1,]", "[01]", "[1 2]", `{"a" 1}`, "tru", "[\"\xff\"]",
		"\xef\xbb\xbf 1 ", "1 2", strings.Repeat("[", 300) + strings.Repeat("]", 300),
		strings.Repeat("[", 256) + strings.Repeat("]", 256)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := openapi.Decode(raw)
		v, wantErr := openapi.ParseValue(raw)
		var want any
		if wantErr == nil {
			want = v.Decode()
		}
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %v, %v, want %v, %v", raw, got, err, want, wantErr)
		}
	})
}
