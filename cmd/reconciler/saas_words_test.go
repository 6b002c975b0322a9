//go:build !race

package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/script"
)

// say gives a command about a target.
func (s *shop) say(t *testing.T, args ...string) (int, string) {
	t.Helper()
	args = append([]string{"saas"}, args...)
	args = append(args, "--bundle", "dir:.", "--config", "prcheck.yaml", "--state", "state", "--no-cache")
	cmd := exec.Command(script.Program(t, "reconciler"), args...) //nolint:gosec,noctx // the program that is tested
	cmd.Dir, cmd.Env = s.dir, s.env
	return script.Output(t, cmd)
}

// Nobody is told that a variable or a flag proves who speaks.
func TestSaasHelpPromisesNoProof(t *testing.T) {
	s := newShop(t)
	_, text := s.say(t, "--help")
	for _, want := range []string{"GITLAB_USER_LOGIN", "Neither proves anything about a person", "words: comments"} {
		if !strings.Contains(text, want) {
			t.Errorf("the help does not say %q:\n%s", want, text)
		}
	}
}

// A person holds a target by the program: it does not run until that is taken back. A dry run notes nothing, and the
// word of somebody who may not is refused.
func TestPeopleSpeakForTargets(t *testing.T) {
	s := newShop(t)
	s.write(t, "prcheck.yaml", "version: 1\nsecrets: {files: {folder: "+filepath.Join(s.dir, "secrets")+
		"}}\nintegrations:\n  saas-deploy:\n    settings: {records: 's3://memory', hosts: [127.0.0.1], wait: 20s}\n"+
		"  saas-promotions:\n    settings: {records: 's3://memory', may: {shop/production: [jane]}}\n")
	s.replace(t, "      soakDays: 1\n", "")
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"nobody":      {[]string{"hold", "shop/production"}, 2, "--by is required"},
		"no word":     {[]string{"like", "shop/production", "--by", "jane"}, 2, "is no command"},
		"no commit":   {[]string{"reject", "shop/production", "--by", "jane"}, 2, "needs a commit"},
		"no target":   {[]string{"hold", "shop/none", "--by", "jane", "--no-dry-run"}, 1, "no target is called"},
		"another one": {[]string{"hold", "shop/production", "--by", "joe", "--no-dry-run"}, 1, "may not speak"},
		"another native": {[]string{"hold", "shop/production", "--by", "jane", "--integration", "saas-deploy"}, 2,
			"listens to nobody"},
		"a dry run": {[]string{"hold", "shop/production", "--by", "jane"}, 0, "hold shop/production by jane"},
	} {
		if code, text := s.say(t, c.args...); code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%s: got %d, want %d\n%s", name, code, c.code, text)
		}
	}
	env := s.env
	s.env = append(slices.Clone(env), "GITLAB_USER_LOGIN=joe")
	if code, text := s.say(t, "hold", "shop/production", "--by", "jane", "--no-dry-run"); code != 2 ||
		!strings.Contains(text, "this job was started by joe") || strings.Contains(text, "cannot speak") {
		t.Errorf("a job of somebody else: %d\n%s", code, text)
	}
	if code, text := s.say(t, "hold", "shop/production", "--no-dry-run"); code != 1 ||
		!strings.Contains(text, "joe may not speak") {
		t.Errorf("a job without a name: %d\n%s", code, text)
	}
	s.env = env
	if code, text := s.deploy(t, "shop/stage", "--no-dry-run"); code != 0 {
		t.Fatalf("stage: %d\n%s", code, text)
	}
	if code, text := s.say(t, "hold", "shop/production", "--by", "jane", "--no-dry-run"); code != 0 {
		t.Fatalf("hold: %d\n%s", code, text)
	}
	if code, text := s.deploy(t, "shop/production", "--no-dry-run"); code != 1 ||
		!strings.Contains(text, "jane holds the target") {
		t.Errorf("held: %d\n%s", code, text)
	}
	if code, text := s.say(t, "unhold", "shop/production", "--by", "jane", "--no-dry-run"); code != 0 {
		t.Fatalf("unhold: %d\n%s", code, text)
	}
	if code, text := s.deploy(t, "shop/production", "--no-dry-run"); code != 0 {
		t.Errorf("given free: %d\n%s", code, text)
	}
}
