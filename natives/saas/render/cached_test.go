package render

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/state"
)

func TestCached(t *testing.T) {
	store, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	var failed error
	files := Cached(store, func(_ context.Context, url, commit, path string, deep bool) (map[string][]byte, error) {
		asked++
		return map[string][]byte{"": []byte(url + commit + path), "b": []byte("\x00\xff")}, failed
	})
	sha := strings.Repeat("a", 40)
	ask := func(commit, path string, deep bool, want int) {
		t.Helper()
		asked = 0
		got, err := files(t.Context(), "https://x", commit, path, deep)
		if err != nil || string(got[""]) != "https://x"+commit+path || asked != want {
			t.Errorf("%.5s %s: got %q, %v after %d requests, want %d", commit, path, got, err, asked, want)
		}
	}
	ask("main", "p", false, 1)
	ask("main", "p", false, 1)
	failed = errors.New("no answer")
	if _, err := files(t.Context(), "https://x", sha, "p", false); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	failed = nil
	ask(sha, "p", false, 1)
	ask(sha, "p", true, 1)
	ask(sha, "q", false, 1)
	ask(sha, "p", false, 0)
	list, err := store.List(t.Context(), "templates")
	if err != nil || len(list) != 3 {
		t.Fatalf("got %v, %v", list, err)
	}
	for _, damage := range []func([]byte) []byte{
		func(raw []byte) []byte { return raw[:len(raw)/2] },
		func([]byte) []byte { return []byte("{}") },
		func(raw []byte) []byte {
			return []byte(strings.Replace(string(raw), `"files":{"":"`, `"files":{"":"AAAA`, 1))
		},
		func(raw []byte) []byte { return []byte(strings.Replace(string(raw), sha, strings.Repeat("b", 40), 1)) },
	} {
		for _, e := range list {
			raw, err := store.Read(t.Context(), e.Key)
			if err == nil {
				err = store.Write(t.Context(), e.Key, damage(raw))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		got, err := files(t.Context(), "https://x", sha, "p", false)
		if err != nil || string(got[""]) != "https://x"+sha+"p" {
			t.Errorf("got %q, %v from a damaged document", got, err)
		}
		ask(sha, "p", false, 0)
	}
	large := map[string][]byte{"": make([]byte, maxCached+1)}
	files = Cached(store, func(context.Context, string, string, string, bool) (map[string][]byte, error) {
		asked++
		return large, nil
	})
	asked = 0
	for range 2 {
		if got, err := files(t.Context(), "https://large", sha, "p", false); err != nil ||
			!maps.EqualFunc(got, large, func(a, b []byte) bool { return len(a) == len(b) }) {
			t.Error(err)
		}
	}
	if asked != 2 {
		t.Errorf("large files were remembered: %d requests, want 2", asked)
	}
}
