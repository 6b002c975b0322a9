package planner

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/cli"
)

// A running server is one line more: its answers are the same, break the law, or were not given.
func TestSelftestServer(t *testing.T) {
	both := start(t, nil, "--bundle", shop+"base.json", "--bundle", shop+"head.json").url
	headOnly := start(t, nil, "--bundle", shop+"head.json").url
	const says = "a running qontract-server gives the answers on which skips rest"
	for _, c := range []struct {
		name, server   string
		code           int
		stdout, stderr string // expressions
	}{
		{"the same", both, cli.ExitOK, `(?m)^ok +server +` + says + ` \(8 asked, 8 same, 0 different, 0 not asked\)
13 laws: 12 ok, 0 broken, 1 not applicable\n$`, `^$`},
		{"a wrong answer", liar(t, both, "cents", "lamp", "limp"), cli.ExitFailed,
			`(?m)^broken +server +` + says + ` \(8 asked, 6 same, 2 different, 0 not asked\)
  price-tags: the server answers queries/price-tags.graphql on base otherwise, at data\.products\[0\]\.name: both have a text, not the same
  changed files: data/products/lamp\.yml, data/warehouses/harbor\.yml
  holds when: .*
13 laws: 11 ok, 1 broken, 1 not applicable\n$`, `^$`},
		{"no base", headOnly, cli.ExitTrouble,
			`(?m)^not asked +server +` + says + ` \(4 asked, 4 same, 0 different, 4 not asked: .* does not have bundle .*\)
13 laws: 11 ok, 0 broken, 1 not applicable, 1 not asked\n$`, `^planner: http://.* did not answer 4 of 8 questions, so what rests on them is not proven: .*\n$`},
		{"a bad address", "here", cli.ExitUsage, `^$`, `^planner: --server: not an address`},
	} {
		t.Run(c.name, func(t *testing.T) {
			inputs := []string{"--base", shop + "base.json", "--head", shop + "head.json", "--config", shop + "prcheck.yaml",
				"--no-cache"}
			code, stdout, stderr := called(t, append([]string{"upkeep", "selftest", "--server", c.server}, inputs...)...)
			if code != c.code || !regexp.MustCompile(c.stdout).MatchString(stdout) ||
				!regexp.MustCompile(c.stderr).MatchString(stderr) || strings.Contains(stdout, "limp") {
				t.Errorf("got exit code %d, want %d\n%s\n%s", code, c.code, stdout, stderr)
			}
			if c.code == cli.ExitUsage {
				return
			}
			_, stdout, _ = called(t, append([]string{"upkeep", "selftest", "--format", "json", "--server", c.server},
				inputs...)...)
			var got struct {
				Laws []struct {
					Law     string
					Checked int
					Server  *struct{ Asked, Same, Different int }
				}
			}
			if err := json.Unmarshal([]byte(stdout), &got); err != nil {
				t.Fatal(err)
			}
			if last := got.Laws[len(got.Laws)-1]; last.Law != "server" || last.Server == nil ||
				last.Checked != last.Server.Same+last.Server.Different || last.Checked == 0 {
				t.Errorf("got %+v", last)
			}
		})
	}
}

// Where no skip rests on a query, nothing is asked, and nothing is said to be the same.
func TestSelftestServerOfNothing(t *testing.T) {
	code, stdout, stderr := called(t, "upkeep", "selftest", "--base", shop+"base.json", "--head", shop+"base.json",
		"--no-cache",
		"--server", "http://127.0.0.1:1")
	if code != cli.ExitOK || stderr != "" ||
		!strings.Contains(stdout,
			"not applicable  server   a running qontract-server gives the answers on which skips rest (no skip rests on the answer to a query)\n") {
		t.Errorf("got exit code %d\n%s\n%s", code, stdout, stderr)
	}
}
