package gitlabtest

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

func itoa(n int) string { return strconv.Itoa(n) }

// serve answers a request below the project; false if it is about something that the repository
// does not have.
func (r *Repository) serve(s *Server, a *answer, req *http.Request, parts []string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refresh()
	defer r.refresh()
	switch area := parts[0]; {
	case area == "repository" && len(parts) > 1:
		return r.serveRepository(s, a, req, parts[1:])
	case area == "merge_requests":
		r.serveRequests(s, a, req, parts[1:])
		return true
	case area == "statuses" && len(parts) == 2 && req.Method == http.MethodPost:
		return r.takeStatus(s, a, req, parts[1])
	case area == "pipelines" && len(parts) == 1 && req.Method == http.MethodGet:
		paged(s, a, req, []map[string]any{}, func(p map[string]any) map[string]any { return p }, "ref", "order_by", "sort")
		return true
	}
	return false
}

// serveRepository answers requests about branches, files and commits.
func (r *Repository) serveRepository(s *Server, a *answer, req *http.Request, parts []string) bool {
	name := strings.Join(parts[1:], "/")
	switch area, get := parts[0], req.Method == http.MethodGet; {
	case area == "branches" && name == "" && get:
		r.listBranches(s, a, req)
	case area == "branches" && name == "" && req.Method == http.MethodPost:
		r.addBranch(s, a, req)
	case area == "branches" && len(parts) == 2 && get:
		r.showBranch(a, name)
	case area == "branches" && len(parts) == 2 && req.Method == http.MethodDelete:
		r.removeBranch(a, name)
	case area == "files" && len(parts) > 1:
		r.showFile(s, a, req, parts[1:])
	case area == "commits" && len(parts) == 3:
		return false // its statuses
	case area == "commits" && name == "" && req.Method == http.MethodPost:
		r.addCommit(s, a, req)
	case area == "commits" && name == "" && get:
		r.listCommits(s, a, req)
	case area == "commits" && get:
		r.showCommit(a, name)
	case area == "compare" && get:
		r.compare(a, req)
	case area == "merge_base" && get:
		r.showMergeBase(a, req)
	default:
		a.refuse(http.StatusNotFound, "Not Found")
	}
	return true
}

// shape returns a commit as the API writes it.
func (c commit) shape() map[string]any {
	title, _, _ := strings.Cut(c.message, "\n")
	when := c.when.Format(time.RFC3339)
	return map[string]any{
		"id": c.id, "short_id": c.id[:8], "title": title, "message": c.message,
		"parent_ids":  append([]string{}, c.parents...),
		"author_name": c.name, "author_email": c.email, "authored_date": when, "created_at": when,
		"committer_name": c.name, "committer_email": c.email, "committed_date": when, "trailers": map[string]any{},
	}
}

func (r *Repository) branchShape(name string) map[string]any {
	c, _ := r.git.resolve(name)
	isMain := name == DefaultBranch
	return map[string]any{
		"name": name, "commit": c.shape(), "merged": !isMain && r.git.isAncestor(c.id, r.git.head(DefaultBranch)),
		"protected": isMain, "default": isMain, "developers_can_push": false, "developers_can_merge": false, "can_push": true,
	}
}

func (r *Repository) listBranches(s *Server, a *answer, req *http.Request) {
	search := req.URL.Query().Get("search")
	all := slices.DeleteFunc(r.git.branches(), func(name string) bool {
		switch start, end := strings.CutPrefix(search, "^"); {
		case end:
			return !strings.HasPrefix(name, start)
		case strings.HasSuffix(search, "$"):
			return !strings.HasSuffix(name, strings.TrimSuffix(search, "$"))
		}
		return !strings.Contains(strings.ToLower(name), strings.ToLower(search))
	})
	paged(s, a, req, all, r.branchShape, "search")
}

func (r *Repository) showBranch(a *answer, name string) {
	if r.git.head(name) == "" {
		a.refuse(http.StatusNotFound, "Branch Not Found")
		return
	}
	a.json(http.StatusOK, r.branchShape(name))
}

func (r *Repository) addBranch(s *Server, a *answer, req *http.Request) {
	var in struct{ Branch, Ref string }
	if req.ContentLength <= 0 {
		in.Branch, in.Ref = req.URL.Query().Get("branch"), req.URL.Query().Get("ref")
	} else if !s.read(a, req, &in) {
		return
	}
	c, ok := r.git.resolve(in.Ref)
	switch {
	case in.Branch == "" || in.Ref == "":
		a.json(http.StatusBadRequest, map[string]any{"error": "branch is missing, ref is missing"})
	case r.git.head(in.Branch) != "":
		a.json(http.StatusBadRequest, map[string]any{"message": "Branch already exists"})
	case !ok:
		a.json(http.StatusBadRequest, map[string]any{"message": "Invalid reference name: " + in.Ref})
	case !isBranchName(in.Branch) || !r.git.point(heads+in.Branch, c.id):
		a.json(http.StatusBadRequest, map[string]any{"message": "Branch name is invalid"})
	default:
		a.json(http.StatusCreated, r.branchShape(in.Branch))
	}
}

// isBranchName reports whether git takes a name for a branch.
func isBranchName(name string) bool {
	return name != "" && !strings.ContainsAny(name, " ~^:?*[\\\x7f") && !strings.Contains(name, "..") &&
		!strings.Contains(name, "//") &&
		!strings.Contains(name, "@{") && strings.Trim(name, "/") == name && !strings.HasPrefix(name, "-") &&
		!strings.HasSuffix(name, ".lock") && !strings.HasSuffix(name, ".") && !isID(name)
}

func (r *Repository) removeBranch(a *answer, name string) {
	switch {
	case r.git.head(name) == "":
		a.refuse(http.StatusNotFound, "Branch Not Found")
	case name == DefaultBranch:
		a.json(http.StatusMethodNotAllowed, map[string]any{"message": "Cannot remove HEAD branch"})
	default:
		r.git.point(heads+name, "")
		a.status = http.StatusNoContent
	}
}

// showFile answers with a file, or with its bytes if the path ends with raw.
func (r *Repository) showFile(s *Server, a *answer, req *http.Request, parts []string) {
	path, ref := parts[0], req.URL.Query().Get("ref")
	c, known := r.git.resolve(cmp.Or(ref, DefaultBranch))
	at, ok := r.git.find(c.tree, path)
	o, _ := r.git.read(at.id)
	isRaw := len(parts) == 2 && parts[1] == "raw"
	if ref == "" {
		s.report("%s names no ref", req.URL.Path)
	}
	switch {
	case req.Method != http.MethodGet && req.Method != http.MethodHead || len(parts) > 1 && !isRaw:
		a.refuse(http.StatusNotFound, "Not Found")
		return
	case !known:
		a.refuse(http.StatusNotFound, "Commit Not Found")
		return
	case !ok || o.kind != "blob":
		a.refuse(http.StatusNotFound, "File Not Found")
		return
	}
	last := r.git.lastCommit(c.id, path)
	name := path[strings.LastIndex(path, "/")+1:]
	for key, value := range map[string]string{"Blob-Id": at.id, "Commit-Id": c.id, "Last-Commit-Id": last,
		"File-Name": name, "File-Path": path, "Ref": ref, "Size": itoa(len(o.data))} {
		a.header.Set("X-Gitlab-"+key, value)
	}
	if isRaw {
		a.status, a.body = http.StatusOK, o.data
		a.header.Set("Content-Type", "text/plain; charset=utf-8")
		return
	}
	a.json(http.StatusOK, map[string]any{
		"file_name": name, "file_path": path, "size": len(o.data), "encoding": "base64",
		"content": base64.StdEncoding.EncodeToString(o.data),
		"ref":     ref, "blob_id": at.id, "commit_id": c.id, "last_commit_id": last, "execute_filemode": false,
	})
}

func (r *Repository) listCommits(s *Server, a *answer, req *http.Request) {
	q := req.URL.Query()
	from, ok := r.git.resolve(cmp.Or(q.Get("ref_name"), DefaultBranch))
	if !ok {
		a.refuse(http.StatusNotFound, "Tree Not Found")
		return
	}
	var all []commit
	if path := q.Get("path"); path != "" {
		for id := r.git.lastCommit(from.id, path); id != ""; {
			c, _ := r.git.commit(id)
			all = append(all, c)
			id = ""
			if len(c.parents) > 0 {
				id = r.git.lastCommit(c.parents[0], path)
			}
		}
	} else {
		r.git.walk(from.id, func(c commit) bool {
			all = append(all, c)
			return true
		})
	}
	paged(s, a, req, all, commit.shape, "ref_name", "path", "first_parent")
}

func (r *Repository) showCommit(a *answer, rev string) {
	c, ok := r.git.resolve(rev)
	if !ok {
		a.refuse(http.StatusNotFound, "Commit Not Found")
		return
	}
	a.json(http.StatusOK, c.shape())
}

// compare answers with the commits and files between two commits, from where they parted.
func (r *Repository) compare(a *answer, req *http.Request) {
	from, ok := r.git.resolve(req.URL.Query().Get("from"))
	to, has := r.git.resolve(req.URL.Query().Get("to"))
	if !ok || !has {
		a.refuse(http.StatusNotFound, "Ref Not Found")
		return
	}
	commits := []map[string]any{}
	r.git.walk(to.id, func(c commit) bool {
		if !r.git.isAncestor(c.id, from.id) {
			commits = append(commits, c.shape())
		}
		return true
	})
	slices.Reverse(commits)
	base := from.id
	if req.URL.Query().Get("straight") != "true" {
		base = r.git.mergeBase(from.id, to.id)
	}
	a.json(http.StatusOK, map[string]any{
		"commit": to.shape(), "commits": commits, "diffs": r.diffs(base, to.id), "compare_same_ref": from.id == to.id,
		"compare_timeout": false,
	})
}

// diffs returns the files that differ between two commits as the API writes them.
func (r *Repository) diffs(from, to string) []map[string]any {
	out := []map[string]any{}
	was, _ := r.git.commit(from)
	is, _ := r.git.commit(to)
	for _, path := range r.git.changed(from, to) {
		_, had := r.git.find(was.tree, path)
		_, has := r.git.find(is.tree, path)
		text, _ := r.git.ask("diff", from, to, "--", path)
		out = append(out, map[string]any{"old_path": path, "new_path": path, "a_mode": "100644", "b_mode": "100644",
			"new_file": !had, "renamed_file": false, "deleted_file": !has, "diff": text})
	}
	return out
}

func (r *Repository) showMergeBase(a *answer, req *http.Request) {
	refs := req.URL.Query()["refs[]"]
	if len(refs) != 2 {
		a.json(http.StatusBadRequest, map[string]any{"error": "refs is missing"})
		return
	}
	x, ok := r.git.resolve(refs[0])
	y, has := r.git.resolve(refs[1])
	base, shared := r.git.commit(r.git.mergeBase(x.id, y.id))
	if !ok || !has || !shared {
		a.refuse(http.StatusNotFound, "Merge Base Not Found")
		return
	}
	a.json(http.StatusOK, base.shape())
}
