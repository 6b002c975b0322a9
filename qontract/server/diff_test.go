package server_test

import (
	"net/http"
	"testing"

	"github.com/app-sre/prcheck/qontract/server"
)

// The two bundles of the tests in this file. Some files differ, and some differ only in
// the way they are written.
const (
	diffBase = `{"data":{
	"/same.yml":{"$schema":"/s.yml","a":[1.0,{"x":1,"y":2}],"b":-0.0},
	"/gone.yml":{"$schema":"/s.yml","n":1.50},
	"/edited.yml":{"$schema":"/old.yml","path":"/else","2":12345678901234567890,"a":"é\u0001"},
	"/list.yml":{"$schema":"/s.yml","l":[1]}},
	"resources":{
	"/r/same":{"path":"/r/same","content":"x","sha256sum":"1","$schema":null,"backrefs":[1]},
	"/r/gone":{"path":"/r/gone","content":"x","sha256sum":"1"},
	"/r/edited":{"path":"/r/edited","content":"x","sha256sum":"1"}},
	"graphql":[]}`
	diffHead = `{"data":{
	"/new.yml":{"$schema":"/s.yml"},
	"/edited.yml":{"$schema":"/s.yml","path":"/else","2":12345678901234567891,"a":"é\u0002","10":1e21},
	"/list.yml":{"$schema":"/s.yml","l":[1,null]},
	"/same.yml":{"a":[1,{"y":2,"x":1e0}],"b":-0,"$schema":"/s.yml"}},
	"resources":{
	"/r/same":{"path":"/r/same","content":"y","sha256sum":"1","$schema":null,"backrefs":[]},
	"/r/edited":{"path":"/r/edited","content":"x","sha256sum":"2"},
	"/r/new":{"path":"/r/new","content":"x","sha256sum":"1"}},
	"graphql":[]}`

	diffGone   = `{"datafilepath":"/gone.yml","datafileschema":"/s.yml","old":{"$schema":"/s.yml","n":1.5,"path":"/gone.yml"}}`
	diffEdited = `{"datafilepath":"/edited.yml","datafileschema":"/s.yml",` +
		`"old":{"2":12345678901234567000,"$schema":"/old.yml","path":"/edited.yml","a":"é\u0001"},` +
		`"new":{"2":12345678901234567000,"10":1e+21,"$schema":"/s.yml","path":"/edited.yml","a":"é\u0002"}}`
	diffList = `{"datafilepath":"/list.yml","datafileschema":"/s.yml","old":{"$schema":"/s.yml","l":[1],"path":"/list.yml"},` +
		`"new":{"$schema":"/s.yml","l":[1,null],"path":"/list.yml"}}`
	diffNew     = `{"datafilepath":"/new.yml","datafileschema":"/s.yml","new":{"$schema":"/s.yml","path":"/new.yml"}}`
	diffRGone   = `{"resourcepath":"/r/gone","old":{"path":"/r/gone","content":"x","sha256sum":"1"}}`
	diffREdit   = `{"resourcepath":"/r/edited","old":{"path":"/r/edited","content":"x","sha256sum":"1"},"new":{"path":"/r/edited","content":"x","sha256sum":"2"}}`
	diffRNew    = `{"resourcepath":"/r/new","new":{"path":"/r/new","content":"x","sha256sum":"1"}}`
	diffNothing = `{"datafiles":{},"resources":{}}`
)

const diffTypes = `"graphql":{"confs":[{"name":"Query","fields":[{"name":"x","type":"string"}]}]}}`

func diffHub(t *testing.T) (h *server.Hub, base, head string) {
	t.Helper()
	h = server.NewHub(server.HubOptions{})
	var shas []string
	for _, text := range []string{diffBase, diffHead} {
		b := parse(t, []byte(text[:len(text)-len(`"graphql":[]}`)]+diffTypes))
		if err := h.Add(b); err != nil {
			t.Fatal(err)
		}
		shas = append(shas, b.SHA256())
	}
	return h, shas[0], shas[1]
}

// The answers equal those of qontract-server, byte for byte.
func TestDiff(t *testing.T) {
	h, base, head := diffHub(t)
	at := "/diff/" + base + "/" + head
	ok := func(body string) seen { return seen{200, inJSON, body, ""} }
	no := func(status int, text string) seen { return seen{status, page, text, ""} }
	for path, want := range map[string]seen{
		at: ok(
			`{"datafiles":{"/gone.yml":` + diffGone + `,"/edited.yml":` + diffEdited + `,"/list.yml":` + diffList +
				`,"/new.yml":` + diffNew +
				`},"resources":{"/r/gone":` + diffRGone + `,"/r/edited":` + diffREdit + `,"/r/new":` + diffRNew + `}}`),
		"/diff/" + base + "/" + base:       ok(diffNothing),
		"/DIFF/" + head + "/" + head + "/": ok(diffNothing),
		at + "/datafile/gone.yml":          ok(diffGone),
		at + "/datafile/edited.yml":        ok(diffEdited),
		at + "/datafile/new.yml":           ok(diffNew),
		at + "/datafile/%6eew.yml":         ok(diffNew),
		at + "/resourcefile/r/gone":        ok(diffRGone),
		at + "/resourcefile/r%2Fedited":    ok(diffREdit),
		at + "/resourcefile/r/new":         ok(diffRNew),
		at + "/datafile/new.yml/":          no(404, "datafile not found"),
		at + "/datafile//new.yml":          no(404, "datafile not found"),
		at + "/datafile":                   no(404, "datafile not found"),
		at + "/resourcefile/":              no(404, "resourcefile not found"),
		at + "/Datafile/new.yml":           no(400, "unknown filetype Datafile"),
		at + "/%3Cb%3E/new.yml":            no(400, "unknown filetype &lt;b&gt;"),
		"/diff/nope/" + head:               no(404, "Bundle nope not found"),
		"/diff/" + base + "/nope":          no(404, "Bundle nope not found"),
		"/diff/" + base + "/%3Ci%3E/x/y":   no(404, "Bundle &lt;i&gt; not found"),
		"/diff/nope":                       failPage(404, "Cannot GET /diff/nope"),
		at + "//x":                         failPage(404, "Cannot GET "+at+"//x"),
		at + "/datafile/%E2%82":            failPage(400, "Bad Request"),
	} {
		look(t, h, http.MethodGet, path, nil, "", want)
	}
	w := request(t, h, http.MethodHead, at, nil, "")
	whole := request(t, h, http.MethodGet, at, nil, "")
	if got, want := w.Header().Get("Content-Length"),
		whole.Header().Get("Content-Length"); got != want || w.Body.Len() != 0 || want == "" {
		t.Errorf("HEAD: got %s and %d bytes, want %s", got, w.Body.Len(), want)
	}
}

// Endpoints of tasks answer /diff too.
func TestEndpointDiff(t *testing.T) {
	e := open(t, nil)
	base, head := snapshots(t)
	path := "/diff/" + base.Bundle.SHA256() + "/" + head.Bundle.SHA256() + "/datafile/users/x.yml"
	want := answer{200, inJSON, "", `{"datafilepath":"/users/x.yml","datafileschema":"/user-1.yml",` +
		`"old":{"$schema":"/user-1.yml","name":"ana","roles":[{"$ref":"/roles/dev.yml"}],"path":"/users/x.yml"},` +
		`"new":{"$schema":"/user-1.yml","name":"bob","roles":[{"$ref":"/roles/dev.yml"}],"path":"/users/x.yml"}}`}
	if got := do(t, http.MethodGet, at(e, path), "", ""); got != want {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
