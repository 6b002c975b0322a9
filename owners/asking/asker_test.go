package asking_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/owners/approvals"
	"github.com/app-sre/prcheck/owners/asking"
	"github.com/app-sre/prcheck/owners/review"
	"github.com/app-sre/prcheck/source"
)

// A checkout is a repository in which commits are made.
type checkout struct {
	t   *testing.T
	dir string
}

func (c checkout) git(args ...string) string {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), "git", append([]string{"-C", c.dir, "-c", "user.name=zoe",
		"-c", "user.email=zoe@example.org"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

func (c checkout) commit(files map[string]string) string {
	c.t.Helper()
	for name, text := range files {
		at := filepath.Join(c.dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			c.t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
	c.git("add", "-A")
	c.git("commit", "-q", "-m", "files")
	return c.git("rev-parse", "HEAD")
}

// A request is a merge request with two versions, and a word about the first one.
type request struct {
	review.Request
	bases map[string]string
}

func (r request) Read(context.Context) (review.Request, error) { return r.Request, nil }
func (request) Write(context.Context, review.Write) error      { return nil }
func (r request) Base(head string) (string, bool)              { base, ok := r.bases[head]; return base, ok }
func (request) Members(context.Context, string) ([]string, bool, error) {
	return nil, false, nil
}

// What an older version starts from may be a commit that base never had. Its rules name nobody who is asked: else
// whoever pushes a branch gets what members are asked with.
func TestOlderVersionAsksNobody(t *testing.T) {
	asked := map[string]int{}
	server := func(name string) string {
		at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked[name]++
			_, _ = w.Write([]byte(`{"data": {"roles": [{"name": "guests", "users": [{"org_username": "bob"}], "bots": []}]}}`))
		}))
		t.Cleanup(at.Close)
		return at.URL + "/graphql"
	}
	c := checkout{t, t.TempDir()}
	c.git("init", "-q", "-b", "main")
	provider := func(url string) map[string]string {
		return map[string]string{"data/acme.yml": "$schema: /access/membership-provider-1.yml\nname: acme\n" +
			"source: {provider: app-interface, url: " + url + "}\n"}
	}
	mail := func(text string) map[string]string {
		return map[string]string{"data/a.yml": "$schema: /person-1.yml\nname: a\nemail: " + text + "\n"}
	}
	c.commit(map[string]string{
		"prcheck.yaml": "version: 1\nexec: {argv: [run, \"{cmd}\"]}\n",
		"data/a.yml":   "$schema: /person-1.yml\nname: a\nemail: a@x\n",
		"data/type.yml": "$schema: /app-interface/change-type-1.yml\nname: mail\ncontextType: datafile\n" +
			"contextSchema: /person-1.yml\nchanges:\n- provider: jsonPath\n  jsonPathSelectors: [email]\n",
		"data/role.yml": "$schema: /access/role-1.yml\nname: guests\nmemberSources:\n- group: guests\n" +
			"  provider: {$ref: /acme.yml}\nself_service:\n- change_type: {$ref: /type.yml}\n  datafiles: [{$ref: /a.yml}]\n",
		"resources/unused": "x", "schemas/person-1.yml": "$schema: /m-1.json\ntype: object\n",
		"graphql-schemas/schema.yml": "$schema: /g-1.yml\nconfs:\n- {name: Query, fields: [{name: a, type: string}]}\n",
	})
	foreign := c.commit(provider(server("foreign")))
	first := c.commit(mail("one@x"))
	c.git("checkout", "-q", "HEAD~2")
	base := c.commit(provider(server("base")))
	head := c.commit(mail("two@x"))
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r := request{review.Request{Head: head, Author: "eve",
		Comments: []review.EditedComment{{By: "bob", Body: "/lgtm", WrittenAt: noon.Add(time.Minute)}},
		Versions: []approvals.Version{{Head: first, PushedAt: noon}, {Head: head, PushedAt: noon.Add(time.Hour)}}},
		map[string]string{first: foreign, head: base}}
	env := cli.Env{Stderr: t.Output(), Getenv: func(name string) string {
		return map[string]string{"PRCHECK_MEMBERS_ACME": "Basic c2VjcmV0", "XDG_CACHE_HOME": t.TempDir()}[name]
	}}
	settings, err := source.OpenSettings(t.Context(), "base:prcheck.yaml", "git:"+base+"@"+c.dir)
	if err != nil {
		t.Fatal(err)
	}
	a := asking.New(asking.Place{Env: env, Forge: r, Open: source.In(env).With(settings), Dir: c.dir, Head: head,
		Commit: head})
	in, inHead, err := a.Input(t.Context(), "git:"+base+"@"+c.dir, "git:"+head+"@"+c.dir)
	if err != nil || len(inHead) > 0 {
		t.Fatal(inHead, err)
	}
	out, _, err := review.Look(t.Context(), in)
	if err != nil || out.IsApproved || asked["base"] != 1 || asked["foreign"] != 0 {
		t.Errorf("asked %v, approved %t, %v", asked, out != nil && out.IsApproved, err)
	}
}
