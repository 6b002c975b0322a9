package main

import (
	"slices"
	"strings"
	"testing"
)

// linesWith returns how many lines of a wire have all parts.
func linesWith(sent []string, parts ...string) (n int) {
	for _, line := range sent {
		if !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(line, p) }) {
			n++
		}
	}
	return n
}

// The stand-ins of services are asked in merge requests that need them, and what was sent is written down, with the
// names of credentials. A service that is away once is asked again.
func TestStandIns(t *testing.T) {
	plug()
	heads := []string{"POST https://github.com:443/acme/shop.git/git-upload-pack",
		"Authorization: Basic oauth2:(PRCHECK_APP_CODE_TOKEN)", "ref-prefix refs/heads/main"}
	for _, c := range []struct {
		native, edits, away string
		parts               []string
		times               int // how many lines have these parts
	}{
		{"saas-deploy", "a secret parameter", "", heads, 1},
		{"saas-deploy", "a secret parameter", codeHost, heads, 2},
		{"saas-deploy", "a chart", "", []string{`helm shop shop-stage with 2 files and the values {"ENVIRONMENT":"stage",`,
			`"PW":"PLACEHOLDER`}, 2},
		{"saas-promotions", "runs are there", "",
			[]string{"GET https://gitlab.example.com:443/api/v4/projects/data%2Fapp/repository/files/",
				"Private-Token: (PRCHECK_APP_FORGE_TOKEN)"}, 1},
		{"saas-promotions", "runs are there", "",
			[]string{"bucket s3://records get state/openshift-saas-deploy/promotions_v2/"}, 2},
		{"saas-promotions", "runs are there", codeHost, heads, 2},
		{"saas-promotions", "runs are there,the forge is away once", "", []string{"GET https://gitlab.example.com:443/",
			"/repository/files/"}, 2},
		{"saas-promotions", "runs are there,what is decided is written", "", []string{"POST https://gitlab.example.com:443/",
			"/merge_requests", `"title":"Promote shop/shop`}, 1},
		{"saas-promotions", "runs are there,what is decided is written", "",
			[]string{"bucket s3://records put state/prcheck-saas-deploy/ledger/"}, 1},
		{"namespaces", "a label", "", []string{"GET https://" + oneHost, "/api/v1/namespaces?"}, 1},
		{"namespaces", "a label", oneHost, []string{"GET https://" + oneHost, "/api/v1/namespaces?"}, 2},
		{"generic", "a property,the service is away once", "", []string{"GET https://" + armHost, "/scaleSets/web?"}, 2},
	} {
		l, err := newLaw(t.Context(), c.native, 1, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		p, err := l.make(t.Context(), 0, strings.Split(c.edits, ","))
		if err != nil {
			t.Fatal(err)
		}
		p.away[c.away] = ""
		a, b, err := l.both(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if n, m := linesWith(a.sent, c.parts...), linesWith(b.sent, c.parts...); n != c.times || m != c.times {
			t.Errorf("%s, %s, away %q: %d and %d lines have %q, want %d:\n%s", c.native, c.edits, c.away, n, m, c.parts, c.times,
				strings.Join(a.sent, "\n"))
		}
	}
}
