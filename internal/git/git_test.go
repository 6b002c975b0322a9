package git

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// commitAll makes a commit of files in a new repository.
func commitAll(t *testing.T, files map[string]string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_ = os.Symlink("a.txt", filepath.Join(dir, "link"))
	runGit(t, dir, "init", "-q")
	runGit(t, dir, "add", "-A")
	runGit(t, dir, "commit", "-q", "-m", "one")
	return dir
}

func runGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=x",
		"-c", "user.email=x@example.com"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func TestFileOfACommit(t *testing.T) {
	dir := commitAll(t, map[string]string{"a.txt": "hello", "d/*.txt": "star", "d/x.txt": "x"})
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := OpenCommit(t.Context(), dir, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		limit   int
		want    string
		failure string
	}{
		{"a.txt", 100, "hello", ""},
		{"a.txt", 2, "hel", ""},
		{"d/*.txt", 100, "star", ""},
		{"d", 100, "", "is neither a file nor a link, not a file"},
		{"link", 100, "", "is a link, not a file"},
		{"nothing", 100, "", "has no file"},
		{":/a.txt", 100, "", "has no file"},
		{"../a.txt", 100, "", "does not lie in the repository"},
		{"/a.txt", 100, "", "does not lie in the repository"},
		{"d/../a.txt", 100, "", "does not lie in the repository"},
		{"", 100, "", "does not lie in the repository"},
	} {
		raw, err := g.ReadFile(t.Context(), c.name, c.limit)
		if string(raw) != c.want || (err == nil) != (c.failure == "") ||
			err != nil && !strings.Contains(err.Error(), c.failure) {
			t.Errorf("%q: got %q, %v, want %q, an error with %q", c.name, raw, err, c.want, c.failure)
		}
		if missing := c.failure == "has no file"; errors.Is(err, fs.ErrNotExist) != missing {
			t.Errorf("%q: got %v, want fs.ErrNotExist: %v", c.name, err, missing)
		}
	}
}

func TestChangedPaths(t *testing.T) {
	dir := commitAll(t, map[string]string{"a.txt": "hello", "b.txt": "b", ".gitignore": "ignored\n"})
	r, err := FindRepository(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(base, head string) []string {
		t.Helper()
		found, err := r.ChangedPaths(t.Context(), base, head)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			got = append(got, f.Path)
		}
		return got
	}
	if got := changed("HEAD", ""); len(got) != 0 {
		t.Errorf("nothing changed, got %q", got)
	}
	for _, name := range []string{"a.txt", "ü\n.txt", "ignored"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("new"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"a.txt", "ü\n.txt"}
	if got := changed("HEAD", ""); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	runGit(t, dir, "mv", "b.txt", "c.txt")
	runGit(t, dir, "add", "-A")
	runGit(t, dir, "commit", "-q", "-m", "two")
	want = []string{"a.txt", "b.txt", "c.txt", "ü\n.txt"}
	if got := changed("HEAD~1", "HEAD"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for name, want := range map[string]bool{"c.txt": true, "b.txt": true, "none": false, "c.txt/x": true,
		"link/x": true, "d/x": false} {
		if got, err := r.HasPath(t.Context(), name, "HEAD~1", "HEAD"); got != want || err != nil {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, want)
		}
	}
}

func TestFirstLine(t *testing.T) {
	for said, want := range map[string]string{
		"fatal: unable to access 'https://gitlab-ci-token:secret@git.example.org/x.git/': no\nmore": "" +
			"fatal: unable to access 'https://git.example.org/x.git/': no",
		"fatal: https://a@b:c@host/x": "fatal: https://host/x",
		"":                            "",
	} {
		if got := firstLine(said); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestPathIn(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(top, "repo")
	if err := os.MkdirAll(filepath.Join(root, "ci"), 0o700); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"repo/out": "..", "in": "repo"} {
		if err := os.Symlink(to, filepath.Join(top, from)); err != nil {
			t.Skip("links cannot be made here: ", err)
		}
	}
	t.Chdir(filepath.Join(root, "ci"))
	for name, want := range map[string]string{
		"x.yaml":                          "ci/x.yaml",
		"../x.yaml":                       "x.yaml",
		"../../x.yaml":                    "",
		"../../repository/x.yaml":         "",
		"../out/x.yaml":                   "out/x.yaml", // as head names it, wherever its link leads
		filepath.Join(root, "a/b"):        "a/b",
		filepath.Join(top, "in/x.yaml"):   "x.yaml",
		filepath.Join(top, "x.yaml"):      "",
		filepath.Join(root, "..x", "b"):   "..x/b",
		filepath.Join(root, "../nothing"): "",
	} {
		got, ok := PathIn(root, name)
		if got != want || ok != (want != "") {
			t.Errorf("%s: got %q, %v, want %q", name, got, ok, want)
		}
	}
}

func TestOpenCommit(t *testing.T) {
	dir := commitAll(t, map[string]string{"data/a.txt": "hello"})
	for _, rev := range []string{"", "-x", "--all", "--output=/tmp/x", "nope", "HEAD~5", "HEAD:data", "a\nb", "a\x00b",
		"HEAD^{tree}"} {
		if c, err := OpenCommit(t.Context(), dir, rev); err == nil {
			t.Errorf("revision %q is the commit %s", rev, c.Hash())
		}
	}
	c, err := OpenCommit(t.Context(), dir, "@")
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Hash()) != 40 || len(c.Time()) < 10 {
		t.Errorf("got the commit %q of %q", c.Hash(), c.Time())
	}
	if _, err := OpenCommit(t.Context(), t.TempDir(), "HEAD"); err == nil {
		t.Error("a folder without a repository has a commit")
	}
}
