package launch

import (
	"testing"

	"github.com/app-sre/prcheck/runner/place"
)

func TestMoved(t *testing.T) {
	at := place.Place{From: "/home/ana/repo", Root: "/w/1"}
	for text, want := range map[string]string{
		"/home/ana/repo": "/w/1", "/home/ana/repo/": "/w/1/", "/home/ana/repo/a b": "/w/1/a b",
		"--dir=/home/ana/repo/x":           "--dir=/w/1/x",
		"/bin:/home/ana/repo/bin:/usr/bin": "/bin:/w/1/bin:/usr/bin", "file:///home/ana/repo/x": "file:///home/ana/repo/x",
		"/home/ana/repository": "/home/ana/repository",
		"x/home/ana/repo":      "x/home/ana/repo", "": "", "/home/ana/repo:/home/ana/repo": "/w/1:/w/1",
		"@/home/ana/repo/f": "@/w/1/f",
	} {
		if got := moved(text, at); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := moved("/home/ana/repo",
		place.Place{From: "/home/ana/repo", Root: "/home/ana/repo"}); got != "/home/ana/repo" {
		t.Errorf("nothing moved, got %q", got)
	}
}
