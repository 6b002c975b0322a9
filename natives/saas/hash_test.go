package saas

import (
	"fmt"
	"testing"
)

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
