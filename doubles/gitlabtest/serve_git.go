package gitlabtest

import (
	"io"
	"net/http"
	"net/http/cgi"
	"path/filepath"
	"strings"
)

// isGit reports whether a request is one of git's, for the project at /group/project.git.
func (s *Server) isGit(r *http.Request) bool {
	return s.Repository != nil && strings.HasPrefix(r.URL.Path, "/"+ProjectPath+".git/")
}

// serveGit lets git answer a request of git. Whoever asks names the token as password.
func (s *Server) serveGit(w http.ResponseWriter, r *http.Request) {
	if _, password, _ := r.BasicAuth(); password != s.Token {
		w.Header().Set("WWW-Authenticate", `Basic realm="GitLab"`)
		http.Error(w, "HTTP Basic: Access denied", http.StatusUnauthorized)
		return
	}
	s.Repository.ServeGit("/"+ProjectPath+".git", "prcheck").ServeHTTP(w, r)
}

// ServeGit returns a handler with the repository below an address, for git's own protocol. A
// user may push as well; "" is nobody, who reads.
func (r *Repository) ServeGit(below, user string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if user == "" || !r.moveRef(w, q) {
			r.serveByGit(w, q, below, user)
		}
	})
}

// serveByGit lets git answer a request.
func (r *Repository) serveByGit(w http.ResponseWriter, q *http.Request, below, user string) {
	r.mu.Lock()
	r.refresh()
	path, err := r.git.git("--exec-path")
	r.mu.Unlock()
	must(err)
	h := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(path), "git-http-backend"), Root: below, Dir: r.git.dir,
		Env: []string{"GIT_PROJECT_ROOT=" + r.git.dir, "GIT_HTTP_EXPORT_ALL=1",
			"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "REMOTE_USER=" + user},
		Stderr: io.Discard,
	}
	if protocol := q.Header.Get("Git-Protocol"); protocol != "" { // what git may speak
		h.Env = append(h.Env, "GIT_PROTOCOL="+protocol)
	}
	q.Header.Del("Authorization")
	h.ServeHTTP(w, q)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.git.flush(); strings.HasSuffix(q.URL.Path, "/git-receive-pack") {
		r.git.refs = nil
	}
}
