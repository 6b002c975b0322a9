package promotions

import (
	"fmt"
	"strings"
	"testing"
)

// The merge request of a promotion says where its changes can be read, which commits it brings, and for how long they
// ran at which publishers.
func TestBackground(t *testing.T) {
	s := newScene(t, 1, 1)
	s.code = []string{sha(3), sha(2), sha(1)}
	s.deployAll(sha(3))
	s.mustLoop("commit", "open")
	text := s.forge.requests[0].Description
	url := "https://github.com/acme/shop"
	for _, want := range []string{
		fmt.Sprintf("  - [compare %.12s...%.12s](%s/compare/%s...%s)\n", sha(1), sha(3), url, sha(1), sha(3)),
		fmt.Sprintf("  - 2 commits: [`%.12s`](%s/commit/%s), [`%.12s`](%s/commit/%s)\n", sha(3), url, sha(3), sha(2), url,
			sha(2)),
		"  - it ran `", " at saas-0/t0 c-1/shop-stage",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the description does not say %q:\n%s", want, text)
		}
	}
}

// An address of the data is a link only if it can be nothing else.
func TestLinkable(t *testing.T) {
	for url, want := range map[string]bool{
		"https://github.com/acme/shop": true, "https://gitlab.example:8443/a/b.c/d_e": true,
		"http://github.com/acme/shop": false, "https://github.com": false, "https://a.example/x)[y](https://b.example/z": false,
		"https://a@b.example/x": false, "https://a.example/x y": false, "javascript:alert(1)": false,
	} {
		if got := linkable.MatchString(url); got != want {
			t.Errorf("%q is linkable: %v", url, got)
		}
	}
}
