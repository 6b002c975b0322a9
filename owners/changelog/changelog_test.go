package changelog_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/owners/changelog"
	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// The data of the platform: two apps, their namespaces on one cluster, a pipeline, and three change types.
const platform = `
"/shop.yml": {"$schema": "/app-sre/app-1.yml", "$file_sha256sum": "1", "name": "shop", "description": "lamps"}
"/bank.yml": {"$schema": "/app-sre/app-1.yml", "$file_sha256sum": "1", "name": "bank"}
"/cluster.yml": {"$schema": "/openshift/cluster-1.yml", "$file_sha256sum": "1", "name": "north", "size": 3}
"/shop-ns.yml": {"$schema": "/openshift/namespace-1.yml", "$file_sha256sum": "1", "name": "shop", "app": {"$ref": "/shop.yml"}, "cluster": {"$ref": "/cluster.yml"}, "openshiftResources": [{"provider": "resource", "path": "/quota.yml"}], "quota": 4, "zones": ["a", "b"]}
"/bank-ns.yml": {"$schema": "/openshift/namespace-1.yml", "$file_sha256sum": "1", "name": "bank", "app": {"$ref": "/bank.yml"}, "cluster": {"$ref": "/cluster.yml"}}
"/saas.yml": {"$schema": "/app-sre/saas-file-2.yml", "$file_sha256sum": "1", "name": "deploy", "app": {"$ref": "/shop.yml"}, "ref": "main"}
"/gone.yml": {"$schema": "/app-sre/saas-file-2.yml", "$file_sha256sum": "1", "name": "old", "app": {"$ref": "/left.yml"}, "ref": "main"}
"/types/quota.yml": {"$schema": "/app-interface/change-type-1.yml", "$file_sha256sum": "1", "name": "quota", "labels": {"change_log_tracking": "yes"}, "contextType": "datafile", "contextSchema": "/openshift/namespace-1.yml", "changes": [{"provider": "jsonPath", "jsonPathSelectors": ["quota", "openshiftResources[*]", "zones"]}]}
"/types/ref.yml": {"$schema": "/app-interface/change-type-1.yml", "$file_sha256sum": "1", "name": "ref", "disabled": true, "labels": {"change_log_tracking": null}, "contextType": "datafile", "contextSchema": "/app-sre/saas-file-2.yml", "changes": [{"provider": "jsonPath", "jsonPathSelectors": ["ref"]}]}
"/types/app.yml": {"$schema": "/app-interface/change-type-1.yml", "$file_sha256sum": "1", "name": "app", "labels": {"other": ""}, "contextType": "datafile", "contextSchema": "/app-sre/app-1.yml", "changes": [{"provider": "jsonPath", "jsonPathSelectors": ["$"]}]}`

const resource = `"/quota.yml": {"path": "/quota.yml", "$schema": null, "content": "cpu: 1", "sha256sum": "1", "backrefs": [{"path": "/shop-ns.yml", "datafileSchema": "/openshift/namespace-1.yml", "type": "Namespace_v1", "jsonpath": "openshiftResources.[0].path"}, {"path": "/shop.yml", "datafileSchema": "/app-sre/app-1.yml", "type": "App_v1", "jsonpath": "x"}]}`

// bundleOf makes a bundle of datafiles, a line each, and a resource.
func bundleOf(t *testing.T, data, resource string) *bundle.Bundle {
	t.Helper()
	data = strings.ReplaceAll(strings.TrimSpace(data), "\n", ",")
	b, err := bundle.Parse(fmt.Appendf(nil, `{"data": {%s}, "resources": {%s}, "schemas": {}, "graphql": {"confs": []}, `+
		`"git_commit": "", "git_commit_timestamp": ""}`, data, resource), nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// with returns the platform with an edit of its text. The sum of the edited file is another one.
func with(t *testing.T, old, new string) string {
	t.Helper()
	var lines []string
	isDone := false
	for line := range strings.SplitSeq(strings.TrimSpace(platform), "\n") {
		if edited := strings.Replace(line, old, new, 1); edited != line {
			line, isDone = strings.Replace(edited, `"$file_sha256sum": "1"`, `"$file_sha256sum": "2"`, 1), true
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	if !isDone {
		t.Fatalf("%q is not in the platform", old)
	}
	return strings.Join(lines, "\n")
}

// without returns the platform without the line of a file.
func without(t *testing.T, path string) string {
	t.Helper()
	for line := range strings.SplitSeq(platform, "\n") {
		if strings.HasPrefix(line, `"`+path+`"`) {
			return strings.Replace(platform, "\n"+line, "", 1)
		}
	}
	t.Fatal(path + " is not in the platform")
	return ""
}

func TestTouched(t *testing.T) {
	file := func(path, text string) string { return platform + "\n\"" + path + "\": " + text }
	for name, c := range map[string]struct{ head, resource, apps, types string }{
		"an app":                     {head: with(t, "lamps", "chairs"), apps: "shop"},
		"an app with a new name":     {head: with(t, `"name": "shop", "d`, `"name": "store", "d`), apps: "shop store"},
		"a value that a type allows": {head: with(t, `"quota": 4`, `"quota": 8`), apps: "shop", types: "quota"},
		"one that none allows":       {head: with(t, `"name": "bank", "app"`, `"name": "x", "app"`), apps: "bank"},
		"a disabled type":            {head: with(t, `"ref": "main"}`, `"ref": "1"}`), apps: "/left.yml shop", types: "ref"},
		"the text alone":             {head: with(t, `"quota": 4,`, `"quota":  4,`), apps: "shop"},
		"the order of a list":        {head: with(t, `["a", "b"]`, `["b", "a"]`), apps: "shop"},
		"a cluster":                  {head: with(t, `"size": 3`, `"size": 4`), apps: "bank shop"},
		"an app that is gone":        {head: without(t, "/gone.yml"), apps: "/left.yml", types: "ref"},
		"a move":                     {head: with(t, `"/bank-ns.yml":`, `"/moved.yml":`), apps: "bank"},
		"another app":                {head: with(t, `"app": {"$ref": "/bank.yml"}`, `"app": {"$ref": "/shop.yml"}`), apps: "bank shop"},
		"a file without an app":      {head: file("/n.yml", `{"$schema": "/openshift/namespace-1.yml", "name": "x"}`)},
		"a file of another schema":   {head: file("/u.yml", `{"$schema": "/access/user-1.yml", "app": {"$ref": "/shop.yml"}}`)},
		"nothing":                    {head: platform},
		"what came stands behind what changed": {head: with(t, `"ref": "main"}`, `"ref": "1"}`) + "\n" + `"/a/new-ns.yml": {"$schema": "/openshift/namespace-1.yml", "$file_sha256sum": "n", "name": "new", "app": {"$ref": "/bank.yml"}, "quota": 1}`,
			apps: "/left.yml bank shop", types: "ref quota"},
		"a resource that a namespace uses":    {head: platform, resource: strings.Replace(resource, `"cpu: 1", "sha256sum": "1"`, `"cpu: 2", "sha256sum": "2"`, 1), apps: "shop", types: "quota"},
		"a resource, mentioned at no place":   {head: platform, resource: strings.NewReplacer(`"1"`, `"2"`, "openshiftResources.[0].path", "nowhere").Replace(resource), apps: "shop", types: "quota"},
		"a resource of a file that is not it": {head: platform, resource: strings.NewReplacer(`"1"`, `"2"`, "/shop-ns.yml", "/other.yml").Replace(resource), apps: "shop", types: "quota"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.resource == "" {
				c.resource = resource
			}
			base := bundleOf(t, platform, resource)
			if name == "a move" { // a move has the text of before
				c.head = strings.Replace(c.head, `"$file_sha256sum": "2"`, `"$file_sha256sum": "1"`, 1)
				base = bundleOf(t, strings.Replace(platform, `bank-ns.yml": {"$schema": "/openshift/namespace-1.yml", "$file_sha256sum": "1"`,
					`bank-ns.yml": {"$schema": "/openshift/namespace-1.yml", "$file_sha256sum": "m"`, 1), resource)
				c.head = strings.Replace(c.head, `moved.yml": {"$schema": "/openshift/namespace-1.yml", "$file_sha256sum": "1"`,
					`moved.yml": {"$schema": "/openshift/namespace-1.yml", "$file_sha256sum": "m"`, 1)
			}
			r, err := changelog.NewReader(base)
			if err != nil {
				t.Fatal(err)
			}
			apps, types, err := r.Touched(content.Bundles{Base: base, Head: bundleOf(t, c.head, c.resource)})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(apps, " "); got != c.apps {
				t.Errorf("apps %q, want %q", got, c.apps)
			}
			if got := strings.Join(types, " "); got != c.types {
				t.Errorf("types %q, want %q", got, c.types)
			}
		})
	}
}

// Rules that cannot be used are an error with their place.
func TestReaderRefuses(t *testing.T) {
	_, err := changelog.NewReader(bundleOf(t, with(t, `["ref"]`, `["ref["]`), resource))
	if err == nil || !strings.Contains(err.Error(), "/types/ref.yml/changes/0/jsonPathSelectors/0") {
		t.Errorf("got %v", err)
	}
}

// An entry says what was merged in the first line that says more than that something was merged.
func TestDescription(t *testing.T) {
	for message, want := range map[string]string{
		"Merge branch 'dev' into 'master'\n\nmy title":         "my title",
		"my title (!123)\n\nother messages":                    "my title (!123)",
		"Merge branch 'dev' into 'master'\n":                   "",
		"\n  \n\tindented  \nmore":                             "indented",
		"Merge branch 'a' into 'b'\nMerge branch 'c'\r\nlast ": "last",
		"": "",
	} {
		at := time.Date(2024, 2, 3, 4, 5, 6, 0, time.FixedZone("", 5*3600+1800))
		e := changelog.NewEntry("c", at, message)
		if e.Description != want || e.MergedAt != "2024-02-03T04:05:06.000+05:30" {
			t.Errorf("%q: got %+v, want %q", message, e, want)
		}
	}
}

// A document is as the program of the platform writes it: sorted keys, ASCII, empty lists.
func TestEncode(t *testing.T) {
	l := &changelog.Log{}
	l.Add(changelog.Entry{Commit: "a", MergedAt: "2024-01-01", Description: "é \"q\"", Apps: []string{"x", "y"}},
		changelog.Entry{Commit: "b", MergedAt: "2024-01-02", Error: true})
	const want = `{"items": [{"apps": [], "change_types": [], "commit": "b", "description": "", "error": true, "merged_at": "2024-01-02"}, ` +
		`{"apps": ["x", "y"], "change_types": [], "commit": "a", "description": "\u00e9 \"q\"", "error": false, "merged_at": "2024-01-01"}]}`
	if got := string(l.Encode()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	again, err := changelog.Read(l.Encode())
	if err != nil || string(again.Encode()) != want || !again.Has("a") || again.Has("c") {
		t.Errorf("got %v, %v", again, err)
	}
	if got := string((&changelog.Log{}).Encode()); got != `{"items": []}` {
		t.Errorf("got %s for an empty log", got)
	}
	for _, text := range []string{"", "[]", `{"items": [{}]}`, `{"items": 1}`} {
		if _, err := changelog.Read([]byte(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// The small document is below 990 KiB, and leaves out the oldest entries, five at a time.
func TestSmall(t *testing.T) {
	const limit = 990 * 1024
	l := &changelog.Log{}
	for i := range 3000 {
		l.Entries = append(l.Entries, changelog.Entry{Commit: fmt.Sprint(i), MergedAt: fmt.Sprintf("%05d", i),
			Description: strings.Repeat("x", 300+i%7)})
	}
	l.Add()
	small := l.Small()
	size, left := len(small.Encode()), len(l.Entries)-len(small.Entries)
	more := &changelog.Log{Entries: l.Entries[:len(small.Entries)+5]}
	if size >= limit || left%5 != 0 || left == 0 || small.Entries[0].Commit != "2999" || len(more.Encode()) < limit {
		t.Errorf("got %d bytes, %d entries left out, first %s; %d bytes with five more", size, left,
			small.Entries[0].Commit, len(more.Encode()))
	}
	huge := &changelog.Log{Entries: []changelog.Entry{{Description: strings.Repeat("x", limit)}}}
	if got := huge.Small(); len(got.Entries) != 0 {
		t.Errorf("got %d entries, want none", len(got.Entries))
	}
}

func TestInFolders(t *testing.T) {
	got := changelog.InFolders([]string{"hack/a", "data/docs/x", "docs/b", "docs/c"})
	if strings.Join(got, " ") != "docs hack" {
		t.Errorf("got %q", got)
	}
}
