package validator_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/validator"
)

func TestLocate(t *testing.T) {
	const text = `# a comment
name: lamp
spec:
  size: 3
  list:
  - a
  - key: b
    other: {x: 1, "y z": 2}
  "a/b~c": 1
  on: true
  1: one
base: &base
  inherited: 1
  both: 1
more: &more
  further: 1
merged:
  <<: [*base, *more]
  both: 2
alias: *base
twice: 1
twice: 2
`
	tests := []struct {
		name, text, pointer, want string
	}{
		{"root", text, "", "2:1"},
		{"key", text, "/name", "2:1"},
		{"mapping", text, "/spec", "3:1"},
		{"below", text, "/spec/size", "4:3"},
		{"missing key", text, "/spec/colour", "3:1"},
		{"far below a missing key", text, "/spec/colour/red/0", "3:1"},
		{"below a scalar", text, "/name/x", "2:1"},
		{"list", text, "/spec/list", "5:3"},
		{"item", text, "/spec/list/0", "6:5"},
		{"item that is a mapping", text, "/spec/list/1", "7:5"},
		{"key of an item", text, "/spec/list/1/other/x", "8:13"},
		{"quoted key", text, "/spec/list/1/other/y z", "8:19"},
		{"no item", text, "/spec/list/2", "5:3"},
		{"no number", text, "/spec/list/-1", "5:3"},
		{"escaped key", text, "/spec/a~1b~0c", "9:3"},
		{"key that is a boolean in YAML 1.1", text, "/spec/true", "10:3"},
		{"key that is a number", text, "/spec/1", "11:3"},
		{"merged key", text, "/merged/inherited", "13:3"},
		{"key of the second merge", text, "/merged/further", "16:3"},
		{"own key beside a merged one", text, "/merged/both", "19:3"},
		{"through an alias", text, "/alias/inherited", "13:3"},
		{"the last of equal keys", text, "/twice", "22:1"},
		{"JSON", "{\n  \"a\": [\n    1,\n    {\"b\": 2}\n  ]\n}\n", "/a/1/b", "4:6"},
		{"escaped slash", "{\"a\": \"\\/x\",\n \"b\": 1}", "/b", "2:2"},
		{"escaped backslash and slash", `{"a": "\\/\/", "b": 1}`, "/b", "1:16"},
		{"characters, not bytes", `{"ä": 1, "b": 1}`, "/b", "1:10"},
		{"no YAML", "a: [", "/a", "0:0"},
		{"empty", "", "", "0:0"},
		{"a scalar", "x", "/a", "1:1"},
		{"nothing but a marker", "---", "/a", "1:1"},
		{"an alias of itself", "&a [*a]", "/0/0/0/0", "1:5"},
		{"merged with itself", "&a {<<: *a, b: 1}", "/c", "1:1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			line, column := locate(tt.text, tt.pointer)
			if got := fmt.Sprintf("%d:%d", line, column); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// locate returns the place to which a pointer leads, or 0, 0 if the text cannot be parsed.
func locate(text, pointer string) (line, column int) {
	t, err := validator.ParseText([]byte(text))
	if err != nil {
		return 0, 0
	}
	return t.At(pointer)
}

func ExampleText_At() {
	text, err := validator.ParseText([]byte("name: lamp\nparts:\n- kind: screw\n  length: long\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	line, column := text.At("/parts/0/length")
	fmt.Printf("%d:%d\n", line, column)
	// Output: 4:3
}

// FuzzLocate checks that every place is inside of the text.
func FuzzLocate(f *testing.F) {
	f.Add("a: [1, {b: c}]", "/a/1/b")
	f.Add("&a {<<: *a, b: &b [*a, *b]}", "/b/1/1/0/c")
	f.Add("{\"a\": \"\\/\"}", "/a")
	f.Add("<<: [{a: 1}, *x]", "/~0~1")
	f.Add("---", "/a")
	f.Add("? [a, b]\n: 1\n? {x: y}\n: 2", "/a")
	f.Fuzz(func(t *testing.T, text, pointer string) {
		line, column := locate(text, pointer)
		if line == 0 && column == 0 {
			return
		}
		breaks := strings.Count(text, "\n") + strings.Count(text, "\r") + strings.Count(text, "\u0085") +
			strings.Count(text, "\u2028") + strings.Count(text, "\u2029")
		if line < 1 || line > breaks+1 || column < 1 || column > len(text)+1 {
			t.Errorf("%d:%d is not in the text", line, column)
		}
	})
}
