package systems

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/settings"
)

// fill writes files below a folder. A text that begins with -> makes a link.
func fill(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o750); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, isLink := strings.CutPrefix(text, "->"); isLink {
			err = os.Symlink(target, at)
		} else {
			err = os.WriteFile(at, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Files hold secrets below their folder, and nothing outside of it is read.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, map[string]string{
		"outside/token":          theValue,
		"s/team/creds/token":     theValue + "\r\n\n",
		"s/team/creds/key":       "-----BEGIN-----\nabc\n-----END-----\n",
		"s/team/creds/empty":     "\n",
		"s/team/creds/largest":   strings.Repeat("x", maxSecret) + "\n",
		"s/team/creds/long":      strings.Repeat("x", maxSecret+1),
		"s/team/out":             "->../../outside",
		"s/team/creds/out":       "->" + filepath.Join(dir, "outside", "token"),
		"s/team/creds/up":        "->../../../outside/token",
		"s/mounted/..2026/token": theValue,
		"s/mounted/..data":       "->..2026",
		"s/mounted/token":        "->..data/token",
	})
	makePipe(t, filepath.Join(dir, "s/team/creds/pipe"))
	for name, c := range map[string]struct{ path, field, want, problem string }{
		"a file":             {"team/creds", "token", theValue, ""},
		"several lines":      {"team/creds", "key", "-----BEGIN-----\nabc\n-----END-----", ""},
		"as large as may be": {"team/creds", "largest", strings.Repeat("x", maxSecret), ""},
		"as Kubernetes does": {"mounted", "token", theValue, ""},
		"no file":            {"team/creds", "no", "", `secret "team/creds", field "no": reading it below the folder`},
		"a folder":           {"team", "creds", "", "it is not a regular file"},
		"a pipe":             {"team/creds", "pipe", "", "it is not a regular file"},
		"empty":              {"team/creds", "empty", "", "it is empty"},
		"too long":           {"team/creds", "long", "", "it has more than 65536 bytes"},
		"link to a file":     {"team/creds", "out", "", "reading it below the folder"},
		"link upwards":       {"team/creds", "up", "", "reading it below the folder"},
		"link to a folder":   {"team/out", "token", "", "reading it below the folder"},
		"up":                 {"../outside", "token", "", "without . and .."},
		"up behind":          {"team/../../outside", "token", "", "without . and .."},
		"field upwards":      {"team", "..", "", "its field must be one name"},
		"field below":        {"team", "creds/token", "", "its field must be one name"},
		"absolute":           {filepath.Join(dir, "outside"), "token", "", "names between slashes"},
		"empty part":         {"team//creds", "token", "", "names between slashes"},
		"no path":            {"", "token", "", "needs a path and a field"},
		"no field":           {"team/creds", "", "", "needs a path and a field"},
		"NUL":                {"team/creds", "to\x00ken", "", "a control character"},
		"backslash":          {`team\creds`, "token", "", "a backslash"},
		"not UTF-8":          {"team/\xff", "token", "", "is not UTF-8"},
		"endless":            {strings.Repeat("a/", 600) + "a", "token", "", "more than 1024 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			l := &learner{}
			s := New(Sources{Settings: readSettings(t, "{files: {folder: '"+dir+"/s'}}"), Learn: l.learn})
			got, err := s.Secret(t.Context(), integration.SecretRef{Path: c.path, Field: c.field, Version: "3"})
			if got != c.want || (err == nil) != (c.problem == "") ||
				err != nil && (!strings.Contains(err.Error(), c.problem) ||
					integration.ClassOfFailure(err) != integration.FailureOfConfig) {
				t.Errorf("got %.40q, %.300v, want %q", got, err, c.problem)
			}
			if l.knows(c.want) != (err == nil) || len(l.words) > 1 {
				t.Errorf("learned %.60v", l.words)
			}
			checkSilent(t, err)
		})
	}
}

// In a checkout no link is followed, because head could have made it.
func TestFilesOfCheckout(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, map[string]string{".git/HEAD": "", "s/a/token": theValue, "s/a/link": "->token", "s/b": "->a"})
	s := New(Sources{Settings: readSettings(t, "{files: {folder: '"+dir+"/s'}}")})
	if got, err := s.Secret(t.Context(), integration.SecretRef{Path: "a", Field: "token"}); err != nil || got != theValue {
		t.Errorf("got %q, %v", got, err)
	}
	for _, ref := range []integration.SecretRef{{Path: "a", Field: "link"}, {Path: "b", Field: "token"}} {
		if got, err := s.Secret(t.Context(), ref); err == nil || !strings.Contains(err.Error(), "link") {
			t.Errorf("%v: got %q, %v", ref, got, err)
		}
	}
}

// A variable is the secret of one path and field.
func TestVariables(t *testing.T) {
	environ := map[string]string{"APP_TEAM_CREDS_DB_TOKEN": theValue, "APP_TEAM_____KEY_2": "other-value"}
	s := New(Sources{Settings: readSettings(t, "{env: {prefix: APP}}"), Getenv: func(name string) string {
		return environ[name]
	}})
	for name, c := range map[string]struct{ path, field, want, problem string }{
		"letters": {"team/creds/db", "token", theValue, ""},
		"others":  {"team/ä-.", "key.2", "other-value", ""},
		"not set": {"team/creds", "token", "", "the variable APP_TEAM_CREDS_TOKEN is not set"},
		"ambiguous": {"team/creds-db", "token", "",
			`the variable APP_TEAM_CREDS_DB_TOKEN would be that of the secret "team/creds/db", field "token", as well`},
		"of the system": {"../..", "PATH", "", "without . and .."},
	} {
		if c.problem != "" && name == "ambiguous" { // the other one was asked for before
			if _, err := s.Secret(t.Context(), integration.SecretRef{Path: "team/creds/db", Field: "token",
				Version: "2"}); err != nil {
				t.Error(err)
			}
		}
		got, err := s.Secret(t.Context(), integration.SecretRef{Path: c.path, Field: c.field})
		if got != c.want || (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, c.problem)
		}
		checkSilent(t, err)
	}
}

// Without a source there are no secrets, and the error says where to name one.
func TestNoSource(t *testing.T) {
	s := New(Sources{Settings: &settings.Settings{}})
	got, err := s.Secret(t.Context(), theRef)
	const want = `secret "team/creds/db", field "token": nobody says where secrets are: name the source under secrets in prcheck.yaml`
	if err == nil || got != "" || err.Error() != want || integration.ClassOfFailure(err) != integration.FailureOfConfig {
		t.Errorf("got %q, %v", got, err)
	}
}

// A secret is kept for a minute and no longer, and not without bound.
func TestKept(t *testing.T) {
	value := "first-value"
	asked := 0
	s := New(Sources{Settings: readSettings(t, "{env: {prefix: APP}}"), Getenv: func(string) string {
		asked++
		return value
	}})
	c := &clock{at: time.Now()}
	s.now = c.now
	for _, step := range []struct {
		after time.Duration
		want  string
		asked int
	}{{0, "first-value", 1}, {keepSecret, "first-value", 1}, {time.Second, "second-value", 2}} {
		c.move(step.after)
		if got, err := s.Secret(t.Context(), theRef); err != nil || got != step.want || asked != step.asked {
			t.Errorf("after %v: got %q, %v, asked %d times", step.after, got, err, asked)
		}
		value = "second-value"
	}
	var err error
	for i := 0; err == nil && i < maxSecrets+1; i++ {
		_, err = s.Secret(t.Context(), integration.SecretRef{Path: fmt.Sprint("p", i), Field: "f"})
	}
	if err == nil || !strings.Contains(err.Error(), "more than 5000 secrets") {
		t.Errorf("got %v", err)
	}
}
