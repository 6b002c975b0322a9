package world

import (
	"reflect"
	"testing"
)

func TestBehind(t *testing.T) {
	tree := &Tree{
		files: []File{
			{"a/run.py", modeFile, "1"}, {"a/to", modeLink, "t"}, {"b", modeLink, "l"}, {"c", modeLink, "m"},
			{"gone", modeLink, "n"},
			{"loop", modeLink, "o"}, {"out", modeLink, "p"}, {"run", modeLink, "q"}, {"x.py", modeFile, "2"},
		},
		links: map[string]string{"t": "../x.py", "l": "a", "m": "b", "n": "none", "o": "loop", "p": "/etc/passwd",
			"q": "a/run.py"},
	}
	got, ok := tree.Behind()
	want := map[string][]string{
		"a/run.py": {"b/run.py", "c/run.py", "run"},
		"a/to":     {"b/to", "c/to"},
		"x.py":     {"a/to", "b/to", "c/to"},
		"b":        {"b/to", "c", "c/to"},
		"loop":     nil,
	}
	delete(want, "loop")
	if !ok || !reflect.DeepEqual(got["a/run.py"], want["a/run.py"]) || !reflect.DeepEqual(got["a/to"], want["a/to"]) ||
		!reflect.DeepEqual(got["x.py"], want["x.py"]) {
		t.Errorf("got %v, %v", got, ok)
	}
}
