package kube_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/kube"
)

// page returns one answer of a list of namespaces.
func pageOf(next, version string, names ...string) string {
	var items []string
	for _, n := range names {
		items = append(items, fmt.Sprintf(`{"metadata": {"name": %q, "uid": "u", "resourceVersion": "3"}}`, n))
	}
	return fmt.Sprintf(
		`{"apiVersion": "v1", "kind": "NamespaceList", "metadata": {"continue": %q, "resourceVersion": %q}, "items": [%s]}`,
		next, version, strings.Join(items, ","))
}

// A list is whole or an error.
func TestListIsWhole(t *testing.T) {
	expired := says(410, "Expired", "")
	for name, c := range map[string]struct {
		pages []string // by request
		sent  int
		want  int    // objects
		err   string // "" for none
	}{
		"one page":              {[]string{pageOf("", "9", "a", "b")}, 1, 2, ""},
		"three pages":           {[]string{pageOf("1", "9", "a"), pageOf("2", "9", "b"), pageOf("", "9", "c")}, 3, 3, ""},
		"an empty page between": {[]string{pageOf("1", "9", "a"), pageOf("2", "9"), pageOf("", "9", "c")}, 3, 2, ""},
		"expired once": {[]string{pageOf("1", "9", "a"), expired, pageOf("1", "10", "x"), pageOf("", "10", "y")}, 4,
			2, ""},
		"expired twice": {[]string{pageOf("1", "9", "a"), expired, pageOf("1", "10", "x"), expired}, 4, 0,
			"it changed while it was read"},
		"other moments": {[]string{pageOf("1", "9", "a"), pageOf("", "10", "b")}, 2, 0, "different moments"},
		"no items": {[]string{`{"apiVersion": "v1", "kind": "NamespaceList", "metadata": {}}`}, 1, 0,
			"has no items"},
		"null": {[]string{`{"apiVersion": "v1", "kind": "NamespaceList", "metadata": {}, "items": null}`}, 1,
			0, "has no items"},
		"no list":             {[]string{object("v1", "Namespace", "", "a", "")}, 1, 0, `it is "Namespace"`},
		"status":              {[]string{`{"apiVersion": "v1", "kind": "Status", "items": []}`}, 1, 0, `it is "Status"`},
		"another group":       {[]string{strings.Replace(pageOf("", "9"), `"v1"`, `"x/v1"`, 1)}, 1, 0, `of "x/v1"`},
		"an object of nobody": {[]string{strings.Replace(pageOf("", "9", "a"), `"a"`, `""`, 1)}, 1, 0, "does not belong"},
		"null among objects":  {[]string{strings.Replace(pageOf("", "9"), `[]`, `[null]`, 1)}, 1, 0, "does not belong"},
		"half":                {[]string{pageOf("", "9", "a", "b")[:90]}, 1, 0, "not whole"},
		"html":                {[]string{"<html>"}, 1, 0, "not whole"},
		"nothing":             {[]string{""}, 1, 0, "not whole"},
	} {
		t.Run(name, func(t *testing.T) {
			sent := 0
			w := westWriter(t, func(w http.ResponseWriter, r *http.Request) {
				answer := c.pages[min(sent, len(c.pages)-1)]
				sent++
				if answer == expired {
					w.WriteHeader(http.StatusGone)
				}
				_, _ = io.WriteString(w, answer)
			})
			got, err := w.List(t.Context(), namespaces, "", "")
			if len(got) != c.want || sent != c.sent || (c.err == "") != (err == nil) ||
				err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %d objects by %d requests and %v, want %d by %d and %q", len(got), sent, err, c.want, c.sent, c.err)
			}
		})
	}
}

// A server that has no last page is left at some time, and so is one with too many objects.
func TestListEnds(t *testing.T) {
	sent := 0
	w := westWriter(t, func(w http.ResponseWriter, _ *http.Request) {
		sent++
		_, _ = io.WriteString(w, pageOf("again", "9"))
	})
	w.Connection().Unlimit()
	if _, err := w.List(t.Context(), namespaces, "", ""); err == nil || sent != kube.MaxPages {
		t.Errorf("got %v after %d requests", err, sent)
	}
	sent = 0
	large := pageOf("again", "9", strings.Repeat("x", 1<<19))
	w = westWriter(t, func(w http.ResponseWriter, _ *http.Request) { sent++; _, _ = io.WriteString(w, large) })
	if _, err := w.List(t.Context(), namespaces, "", ""); err == nil || !strings.Contains(err.Error(), "more than 2 MB") ||
		sent > 5 {
		t.Errorf("got %v after %d requests", err, sent)
	}
}

// Objects of other namespaces do not belong into the list of one.
func TestListOfNamespace(t *testing.T) {
	w := westWriter(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/apis/apps/v1/namespaces/shop/deployments" {
			t.Errorf("got %s", r.URL)
		}
		_, _ = io.WriteString(w,
			`{"apiVersion": "apps/v1", "kind": "DeploymentList", "metadata": {}, "items": [{"metadata": {"name": "a", "namespace": "other", "uid": "u", "resourceVersion": "1"}}]}`)
	})
	if _, err := w.List(t.Context(), deployment.Resource, "shop", ""); err == nil ||
		!strings.Contains(err.Error(), `namespace "other"`) {
		t.Errorf("got %v", err)
	}
}
