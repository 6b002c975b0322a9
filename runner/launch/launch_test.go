package launch

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/server"
	"github.com/app-sre/prcheck/settings"
)

// A task gets a server only if it can learn its address. Each attempt is observed.
func TestOnlyTasksThatCanQueryGetAServer(t *testing.T) {
	base, head, err := pair()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		exec settings.Exec
		task plan.Task
		want bool
	}{
		"nothing":  {task: plan.Task{Argv: []string{"true", "{base_sha}"}}},
		"native":   {task: plan.Task{Native: true}, want: true},
		"argument": {task: plan.Task{Argv: []string{"x", "--url={graphql_url}"}}, want: true},
		"config": {exec: settings.Exec{Config: "server = {base_url}"},
			task: plan.Task{Argv: []string{"x", "--config={config}"}}, want: true},
		"a config that nobody gets": {exec: settings.Exec{Config: "server = {base_url}"}},
		"variable":                  {exec: settings.Exec{Env: map[string]string{"URL": "{graphql_url}"}}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			observed := ""
			w := Equipment{Base: base, Head: head, Settings: &settings.Settings{Exec: c.exec},
				Observe: func(id string) func(server.Exchange) {
					observed = id
					return nil
				}}
			open, err := w.endpoints()
			if err != nil {
				t.Fatal(err)
			}
			c.task.ID = "it"
			e, err := open(t.Context(), c.task)
			if err != nil {
				t.Fatal(err)
			}
			vars := e.Vars()
			if got := vars["graphql_url"] != "" && vars["base_url"] != ""; got != c.want || vars["base_sha"] != base.SHA256() ||
				observed != "it" {
				t.Errorf("got %q, observed %q, want a server %v", vars, observed, c.want)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// The server of a task that is given a token answers nobody else, and so does that of a native.
func TestTokenOfAServer(t *testing.T) {
	base, head, err := pair()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for name, c := range map[string]struct {
		exec  settings.Exec
		task  plan.Task
		guard bool
	}{
		"config": {exec: settings.Exec{Config: "server = {graphql_url}\ntoken = {graphql_token}"},
			task: plan.Task{Argv: []string{"x", "{config}"}}, guard: true},
		"a config that nobody gets": {exec: settings.Exec{Config: "token = {graphql_token}",
			Env: map[string]string{"URL": "{graphql_url}"}}},
		"variable": {exec: settings.Exec{Env: map[string]string{"URL": "{graphql_url}", "AUTH": "{graphql_token}"}},
			guard: true},
		"native":        {task: plan.Task{Native: true}, guard: true},
		"without token": {exec: settings.Exec{Env: map[string]string{"URL": "{graphql_url}"}}},
	} {
		for range 2 {
			w := Equipment{Base: base, Head: head, Settings: &settings.Settings{Exec: c.exec}}
			open, err := w.endpoints()
			if err != nil {
				t.Fatal(err)
			}
			e, err := open(t.Context(), c.task)
			if err != nil {
				t.Fatal(err)
			}
			vars := e.Vars()
			token, has := vars["graphql_token"]
			if has != c.guard || seen[token] || has && len(token) < 40 {
				t.Errorf("%s: got the token %q", name, token)
			}
			seen[token] = has
			for sent, opens := range map[string]bool{token: true, "": !c.guard, token + "x": !c.guard,
				"Basic dGFzazo=": !c.guard} {
				for _, url := range []string{vars["graphql_url"], vars["base_url"]} {
					if _, err := queryFunc(url, sent)(t.Context(), "{ __typename }", nil); (err == nil) != opens {
						t.Errorf("%s: with %q: got %v, want an answer %t", name, sent, err, opens)
					}
				}
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// When base and head are one bundle, a task sees two names, and can ask for both.
func TestOneBundleHasTwoNames(t *testing.T) {
	base, _, err := pair()
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]string{} // sha256 that answered, by path
	exec := settings.Exec{Env: map[string]string{"URL": "{graphql_url}"}}
	w := Equipment{Base: base, Head: base, Settings: &settings.Settings{Exec: exec},
		Observe: func(string) func(server.Exchange) {
			return func(x server.Exchange) { asked[x.Path] = x.SHA256 }
		}}
	open, err := w.endpoints()
	if err != nil {
		t.Fatal(err)
	}
	e, err := open(t.Context(), plan.Task{ID: "it"})
	if err != nil {
		t.Fatal(err)
	}
	vars := e.Vars()
	if vars["base_sha"] == vars["head_sha"] || vars["head_sha"] != base.SHA256() ||
		!strings.HasSuffix(vars["base_url"], vars["base_sha"]) {
		t.Errorf("got %q", vars)
	}
	answers := map[string]string{}
	root := strings.TrimSuffix(vars["graphql_url"], "/graphql")
	for _, path := range []string{"/sha256", "/git-commit/" + vars["base_sha"], "/git-commit/" + vars["head_sha"],
		"/graphqlsha/" + vars["base_sha"] + "?query={__typename}"} {
		res, err := http.Get(root + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("%s: %s, %v: %s", path, res.Status, err, body)
		}
		answers[path] = string(body)
	}
	if answers["/sha256"] != vars["head_sha"] ||
		base.Commit() != "" && answers["/git-commit/"+vars["base_sha"]] == answers["/git-commit/"+vars["head_sha"]] {
		t.Errorf("got %q", answers)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if got := asked["/graphqlsha/"+vars["base_sha"]]; got != vars["base_sha"] {
		t.Errorf("the request to base was noted as one to %q: %q", got, asked)
	}
}
