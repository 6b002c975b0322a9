package saas

import (
	"fmt"
	"testing"
)

// Values are written as Python writes them.
func TestPythonJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"b":1,"a":[true,null],"a":[]}`:                                                `{"a": [], "b": 1}`,
		`[1.0, 1e5, 1e16, 1e-5, 0.0001, 5e-324, -0.0, -0, 1E400, 12345678901234567890]`: `[1.0, 100000.0, 1e+16, 1e-05, 0.0001, 5e-324, -0.0, 0, Infinity, 12345678901234567890]`,
		`"a\u0001\u007f\n\t\r\f\b\"\\/<>&é𝄞"`:                                           `"a\u0001\u007f\n\t\r\f\b\"\\/<>&\u00e9\ud834\udd1e"`,
		`{"\uffff":1,"\ud834\udd1e":2}`:                                                 `{"\uffff": 1, "\ud834\udd1e": 2}`,
	} {
		v, err := readJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(sortedJSON(v)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	v, _ := readJSON(`{"b":1,"a":{"d":2,"c":[1,2]},"b":3}`)
	if got, want := compactJSON(v), `{"b":3,"a":{"d":2,"c":[1,2]}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What is no JSON, more than one value, or nested too deep is refused.
func TestReadJSONRefuses(t *testing.T) {
	deep := ""
	for range maxDepth + 2 {
		deep += "["
	}
	for _, text := range []string{"", "{", "1 2", `{"a"}`, deep} {
		if v, err := readJSON(text); err == nil {
			t.Errorf("%.20q: got %v", text, v)
		}
	}
}

// The digests are those of the reference implementation.
func TestBLAKE2s(t *testing.T) {
	long := make([]byte, 0, 200)
	for i := range 200 {
		long = append(long, byte(i))
	}
	for name, c := range map[string]struct {
		text []byte
		size int
		want string
	}{
		"RFC 7693, appendix B": {[]byte("abc"), 32, "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982"},
		"empty":                {nil, 20, "354c9c33f735962418bdacb9479873429c34916f"},
		"a block":              {long[:64], 20, "68c18b80dd398444aa9fd4272ecfa8e71b31ee8a"},
		"a block and a byte":   {long[:65], 20, "20eb8eee0c703a44779298f35f92da38f2b4f0bf"},
		"several blocks":       {long, 20, "35ef51251df08437c4d5c7ecd7662b56d0a3f07c"},
	} {
		if got := fmt.Sprintf("%x", blake2s(c.text, c.size)); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// The order of the keys of parameters does not count for a config hash, nor for what is remembered of a target.
func TestHashOfParametersInAnyOrder(t *testing.T) {
	hash := func(text string) (string, any) {
		target := &Target{Parameters: &text, Template: &Template{Parameters: &text, File: &File{Parameters: &text}},
			Namespace: Namespace{Cluster: &Cluster{}, Environment: &Environment{}}}
		return target.Hash(), target.Content().(map[string]any)["parameters"]
	}
	first, content := hash(`{"b":{"y":1,"x":[2,1]},"a":"v"}`)
	if other, _ := hash(`{"a":"v","b":{"x":[2,1],"y":1}}`); other != first {
		t.Errorf("got %s for another order of keys, want %s", other, first)
	}
	if other, _ := hash(`{"a":"v","b":{"x":[1,2],"y":1}}`); other == first {
		t.Error("the order of a list does not count")
	}
	if got := *content.(*string); got != `{"a":"v","b":{"x":[2,1],"y":1}}` {
		t.Errorf("got %s", got)
	}
	if _, content := hash(`{"a":`); *content.(*string) != `{"a":` {
		t.Errorf("got %v for a text that is no JSON", content)
	}
}
