package repositories

import (
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration/services"
)

// A world is a server with one real repository at /shop/web.git.
type world struct {
	*httptest.Server
	dir       string
	password  string // that requests must have, "" for any
	filter    bool   // the server can leave out files
	isOld     bool   // the server does not speak version 2
	intercept func(http.ResponseWriter, *http.Request) bool

	mu       sync.Mutex
	requests []string // method, path and whether credentials came
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	w := &world{dir: filepath.Join(t.TempDir(), "shop", "web.git")}
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w.git(t, "init", "-q", "--bare", "-b", "main")
	w.Server = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.Close)
	return w
}

// git runs git in the repository and returns what it prints.
func (w *world) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git",
		append([]string{"-C", w.dir, "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %q: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// commit adds a commit to a branch, with files and links ("->" and where it leads), and returns
// its sha.
func (w *world) commit(t *testing.T, branch string, files map[string]string) string {
	t.Helper()
	index := filepath.Join(t.TempDir(), "index")
	run := func(in string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git",
			append([]string{"-C", w.dir, "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
		cmd.Env, cmd.Stdin = append(os.Environ(), "GIT_INDEX_FILE="+index), strings.NewReader(in)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	var parents []string
	if old, err := exec.CommandContext(t.Context(), "git", "-C", w.dir, "rev-parse", "--verify", "-q",
		"refs/heads/"+branch).Output(); err == nil {
		parents = []string{"-p", strings.TrimSpace(string(old))}
		run("", "read-tree", "refs/heads/"+branch)
	}
	for name, content := range files {
		mode := "100644"
		if target, isLink := strings.CutPrefix(content, "->"); isLink {
			mode, content = "120000", target
		}
		run("", "update-index", "--add", "--cacheinfo", mode+","+run(content, "hash-object", "-w", "--stdin")+","+name)
	}
	made := run("one", append([]string{"commit-tree", run("", "write-tree")}, parents...)...)
	run("", "update-ref", "refs/heads/"+branch, made)
	return made
}

func (w *world) serve(to http.ResponseWriter, r *http.Request) {
	_, password, has := r.BasicAuth()
	w.mu.Lock()
	line := r.Method + " " + r.URL.Path
	if has {
		line += " with credentials"
	}
	w.requests = append(w.requests, line)
	w.mu.Unlock()
	switch {
	case w.intercept != nil && w.intercept(to, r):
	case w.password != "" && password != w.password:
		to.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		to.WriteHeader(http.StatusUnauthorized)
	case !strings.HasPrefix(r.URL.Path, "/shop/web.git/"):
		http.NotFound(to, r)
	default:
		w.serveGit(to, r)
	}
}

func (w *world) serveGit(to http.ResponseWriter, r *http.Request) {
	out, err := exec.CommandContext(r.Context(), "git", "--exec-path").Output()
	if err != nil {
		http.Error(to, err.Error(), http.StatusInternalServerError)
		return
	}
	h := &cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"), Dir: w.dir,
		Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(filepath.Dir(w.dir)), "GIT_HTTP_EXPORT_ALL=1",
			"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=uploadpack.allowFilter",
			"GIT_CONFIG_VALUE_0=" + map[bool]string{true: "true", false: "false"}[w.filter]}}
	if w.isOld {
		r.Header.Del("Git-Protocol")
	}
	r.Header.Del("Authorization")
	h.ServeHTTP(to, r)
}

// asked returns the requests since the last call.
func (w *world) asked() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.requests
	w.requests = nil
	return out
}

// reader returns a reader that does not wait long.
func reader(t *testing.T) *Repositories {
	r := WithPause(time.Millisecond)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (w *world) repository() services.Repository {
	return services.Repository{URL: w.URL + "/shop/web", Password: w.password}
}
