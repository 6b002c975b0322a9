package launch

import (
	"testing"

	"github.com/app-sre/prcheck/runner/place"
)

func TestMoved(t *testing.T) {
	at := place.Place{From: "/work/repo", Root: "/w/1"}
	for text, want := range map[string]string{
		"/work/repo": "/w/1", "/work/repo/": "/w/1/", "/work/repo/a b": "/w/1/a b", "--dir=/work/repo/x": "--dir=/w/1/x",
		"/bin:/work/repo/bin:/usr/bin": "/bin:/w/1/bin:/usr/bin", "file:///work/repo/x": "file:///work/repo/x", "/work/repository": "/work/repository",
		"x/work/repo": "x/work/repo", "": "", "/work/repo:/work/repo": "/w/1:/w/1", "@/work/repo/f": "@/w/1/f",
	} {
		if got := moved(text, at); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := moved("/work/repo", place.Place{From: "/work/repo", Root: "/work/repo"}); got != "/work/repo" {
		t.Errorf("nothing moved, got %q", got)
	}
}
