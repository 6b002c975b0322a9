package gitlabtest

import (
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
	path, err := r.git.git("--exec-path")
	must(err)
	h := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(path), "git-http-backend"), Root: below, Dir: r.git.dir,
		Env: []string{"GIT_PROJECT_ROOT=" + r.git.dir, "GIT_HTTP_EXPORT_ALL=1",
			"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "REMOTE_USER=" + user},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		q.Header.Del("Authorization")
		r.mu.Lock()
		r.refresh()
		r.git.flush()
		r.mu.Unlock()
		defer func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.git.flush(); strings.HasSuffix(q.URL.Path, "/git-receive-pack") {
				r.git.refs = nil
			}
		}()
		if protocol := q.Header.Get("Git-Protocol"); protocol != "" { // what git may speak
			with := *h
			with.Env = append(with.Env[:len(with.Env):len(with.Env)], "GIT_PROTOCOL="+protocol)
			with.ServeHTTP(w, q)
			return
		}
		h.ServeHTTP(w, q)
	})
}
