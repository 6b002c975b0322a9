package planner

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/cli"
)

const shop = "../../testdata/shop/"

// called runs a command and returns its exit code and what it writes.
func called(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = cli.Run(t.Context(), "planner", cli.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Getenv: func(name string) string {
			return map[string]string{"PRCHECK_AUTHORIZATION": "Bearer hunter2hunter2"}[name]
		},
	}, runAll)
	return code, out.String(), errs.String()
}

// planOfShop makes the plan of the shop, and returns the flags that verify it.
func planOfShop(t *testing.T) []string {
	t.Helper()
	inputs := []string{"--base", shop + "base.json", "--head", shop + "head.json", "--config", shop + "prcheck.yaml",
		"--no-cache"}
	file := filepath.Join(t.TempDir(), "plan.json")
	if code, _, errs := called(t, append([]string{"plan", "--out", file}, inputs...)...); code != cli.ExitOK {
		t.Fatal(errs)
	}
	return append([]string{"verify", "--plan", file}, inputs...)
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// liar stands before a server and changes a text in the answers to queries that hold a word.
func liar(t *testing.T, server, word, from, to string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query, _ := io.ReadAll(r.Body)
		req, err := http.NewRequestWithContext(r.Context(), r.Method, server+r.URL.Path, bytes.NewReader(query))
		if err != nil {
			t.Error(err)
			return
		}
		req.Header = r.Header
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		if strings.Contains(string(query), word) {
			body = bytes.Replace(body, []byte(from), []byte(to), 1)
		}
		w.WriteHeader(res.StatusCode)
		_, _ = w.Write(body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// A running server confirms the skips of a plan, refutes them by another answer, or leaves them
// believed.
func TestVerifyServer(t *testing.T) {
	both := start(t, nil, "--bundle", shop+"base.json", "--bundle", shop+"head.json").url
	headOnly := start(t, nil, "--bundle", shop+"head.json").url
	verify := planOfShop(t)
	for _, c := range []struct {
		name, server   string
		code           int
		stdout, stderr []string // in them
	}{
		{"confirmed", both + "/graphql", cli.ExitOK, []string{
			"all 5 decisions hold\nskips: 3 proven, 1 believed, 0 refuted\n",
			"server " + both +
				": 8 asked, 8 same, 0 different, 0 not asked\ntaken as they are: files of bundles, settings, edits of rules, division into tasks\n",
		}, nil},
		{"a wrong answer", liar(t, both, "cents", `"name":"lamp"`, `"name":"limp"`), cli.ExitFailed, []string{
			"price-tags: the server answers queries/price-tags.graphql on base otherwise, at data.products[0].name: both have a text, not the same\nskips: 2 proven, 1 believed, 1 refuted\n",
			": 8 asked, 6 same, 2 different, 0 not asked\ndifferent: the server answers queries/price-tags.graphql on base otherwise, at data.products[0].name: both have a text, not the same\n  asked: ",
			"edits of rules, answers to queries, division",
		}, nil},
		{"no base", headOnly, cli.ExitTrouble, []string{
			"all 5 decisions hold\nskips: 0 proven, 4 believed, 0 refuted\n",
			": 4 asked, 4 same, 0 different, 4 not asked\nnot asked: 4 on base: " + headOnly + " does not have bundle ",
			"assumed: 4 skips rest on answers that the server did not give", "edits of rules, answers to queries, division",
		},
			[]string{"planner: " + headOnly + " did not answer 4 of 8 questions, so what rests on them is not proven: " +
				headOnly + " does not have bundle "}},
		{"nobody", "http://127.0.0.1:1", cli.ExitTrouble, []string{"skips: 0 proven, 4 believed, 0 refuted",
			"0 asked, 0 same, 0 different, 8 not asked"},
			[]string{"planner: http://127.0.0.1:1 did not answer 8 of 8 questions", "connection refused"}},
		{"a bad address", "127.0.0.1:4000", cli.ExitUsage, nil,
			[]string{"planner: --server: not an address; write http://SERVER\n"}},
		{"a secret in the address", "http://me:hunter2@s.example", cli.ExitUsage, nil,
			[]string{"planner: --server: an address must not hold a user or password"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, stdout, stderr := called(t, append(verify, "--server", c.server)...)
			if code != c.code || len(c.stderr) == 0 && stderr != "" || len(c.stdout) == 0 && stdout != "" {
				t.Errorf("got exit code %d, want %d\n%s\n%s", code, c.code, stdout, stderr)
			}
			for _, want := range c.stdout {
				if !strings.Contains(stdout, want) {
					t.Errorf("got stdout\n%s\nwant %s", stdout, want)
				}
			}
			for _, want := range c.stderr {
				if !strings.Contains(stderr, want) {
					t.Errorf("got stderr\n%s\nwant %s", stderr, want)
				}
			}
			if strings.Contains(stdout+stderr, "hunter2") || strings.Contains(stdout, "limp") {
				t.Errorf("a value is told\n%s\n%s", stdout, stderr)
			}
		})
	}
}

// A refuted plan is refuted, also if the server does not have the other bundle. As JSON.
func TestVerifyServerJSON(t *testing.T) {
	headOnly := start(t, nil, "--bundle", shop+"head.json").url
	verify := planOfShop(t)
	page := filepath.Join(t.TempDir(), "page.html")
	code, stdout, stderr := called(t, append(verify, "--format", "json", "--html", page, "--server",
		liar(t, headOnly, "cents", "lamp", "limp"))...)
	var got struct {
		Version          string
		Decisions        int
		Proven, Believed []string
		Refuted          []struct{ Integration, Why string }
		Assumed          map[string][]string
		Server           struct {
			Address                string
			Asked, Same, Different int
			NotAsked               int `json:"not_asked"`
			Differences            []struct {
				Side, Query, Text, Place, Says string
				Integrations                   []string
			}
			Silences []struct {
				Side, Why string
				Questions int
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	s := got.Server
	if code != cli.ExitFailed || stderr != "" || got.Version != "prcheck/v1" || got.Decisions != 5 || got.Proven == nil ||
		len(got.Proven) != 0 || len(got.Believed) != 3 ||
		len(got.Refuted) != 1 || got.Refuted[0].Integration != "price-tags" || len(got.Assumed["answers"]) != 3 ||
		s.Asked != 4 || s.Same != 3 || s.Different != 1 || s.NotAsked != 4 || len(s.Differences) != 1 ||
		s.Differences[0].Query != "queries/price-tags.graphql" ||
		len(s.Silences) != 1 || s.Silences[0].Questions != 4 {
		t.Errorf("got exit code %d, %+v\n%s%s", code, got, stdout, stderr)
	}
	if html := readFile(t, page); !strings.Contains(html, s.Address+": 4 asked, 3 same, 1 different, 4 not asked") ||
		s.Address == "" || !strings.Contains(html, "The replay does not agree with the plan: the server answers") {
		t.Error("the page does not tell the answers of the server")
	}
	if code, _, stderr := called(t, append(verify, "--format", "json", "--html", "-")...); code != cli.ExitUsage ||
		!strings.Contains(stderr, "--html - writes the page in place of the text") {
		t.Errorf("two documents on stdout: got %d, %s", code, stderr)
	}
}

// Both sides of a running server give its own answers already.
func TestVerifyServerOfServer(t *testing.T) {
	const ref = "http://127.0.0.1:1/graphqlsha/00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	verify := planOfShop(t)
	code, _, stderr := called(t, "verify", "--plan", verify[2], "--base", ref, "--head", ref, "--server",
		"http://127.0.0.1:1")
	if code != cli.ExitUsage || !strings.Contains(stderr, "name both sides by their bundle files") {
		t.Errorf("got %d, %s", code, stderr)
	}
}

// Progress is told from time to time.
func TestTellProgress(t *testing.T) {
	var out bytes.Buffer
	now := time.Time{}
	tell := tellProgress(&out, func() time.Time { now = now.Add(2 * time.Second); return now })
	for i := range 7 {
		tell(i)
	}
	if want := "planner: questions to the server so far: 3\nplanner: questions to the server so far: 6\n"; out.String() !=
		want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
