package gitlabtest

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
)

// A commitRequest is the body of a request for a commit.
type commitRequest struct {
	Branch        string         `json:"branch"`
	Message       string         `json:"commit_message"`
	StartBranch   string         `json:"start_branch"`
	StartSHA      string         `json:"start_sha"`
	AuthorName    string         `json:"author_name"`
	AuthorEmail   string         `json:"author_email"`
	Force         bool           `json:"force"`
	Stats         bool           `json:"stats"`
	Actions       []commitAction `json:"actions"`
	StartProject  *string        `json:"start_project"`
	AllowEmpty    bool           `json:"allow_empty"`
	isOtherBranch bool
}

// A commitAction is what a commit does to one file.
type commitAction struct {
	Action       string  `json:"action"`
	Path         string  `json:"file_path"`
	PreviousPath string  `json:"previous_path"`
	Content      *string `json:"content"`
	Encoding     string  `json:"encoding"`
	LastCommitID string  `json:"last_commit_id"`
	Executable   *bool   `json:"execute_filemode"`
}

// addCommit makes a commit of several files and lets a branch point to it.
func (r *Repository) addCommit(s *Server, a *answer, req *http.Request) {
	var in commitRequest
	if !s.read(a, req, &in) {
		return
	}
	for name, text := range map[string]string{"branch": in.Branch, "commit_message": in.Message} {
		if text == "" {
			a.json(http.StatusBadRequest, map[string]any{"error": name + " is missing"})
			return
		}
	}
	made, refused := r.commitFor(&in)
	if refused != nil {
		refused.send(a, 0, nil)
		return
	}
	c, _ := r.git.commit(made)
	a.json(http.StatusCreated, c.shape())
}

// commitFor makes the commit of a request.
func (r *Repository) commitFor(in *commitRequest) (string, *refusal) {
	on, refused := r.startOf(in)
	if refused != nil {
		return "", refused
	}
	tree := on.tree
	for _, action := range in.Actions {
		if tree, refused = r.apply(in, action, tree); refused != nil {
			return "", refused
		}
	}
	by := TheBot
	by.Name, by.Email = cmp.Or(in.AuthorName, by.Name), cmp.Or(in.AuthorEmail, by.Email)
	id := r.commit(by, in.Message, tree, on.id)
	if !r.git.point(heads+in.Branch, id) {
		return "", refuse(http.StatusBadRequest, "Branch name is invalid")
	}
	return id, nil
}

// startOf returns the commit that a request's commit is on top of.
func (r *Repository) startOf(in *commitRequest) (commit, *refusal) {
	if in.StartSHA == "" && in.StartBranch == "" {
		in.StartBranch = in.Branch
	}
	in.isOtherBranch = in.StartBranch != in.Branch
	switch {
	case in.StartProject != nil:
		return commit{}, refuse(http.StatusNotFound, "404 Project Not Found")
	case in.Branch == DefaultBranch:
		return commit{}, refuse(http.StatusForbidden, "403 Forbidden")
	case in.StartSHA != "" && in.StartBranch != "":
		return commit{}, refuse(http.StatusBadRequest, "You can't pass both start_branch and start_sha")
	case in.StartSHA != "" && !isID(in.StartSHA):
		return commit{}, refuse(http.StatusBadRequest, "Invalid start_sha '%s'", in.StartSHA)
	case in.StartBranch != "" && r.git.head(in.StartBranch) == "":
		return commit{}, refuse(http.StatusBadRequest, "You can only create or edit files when you are on a branch")
	case in.isOtherBranch && r.git.head(in.Branch) != "" && !in.Force:
		return commit{}, refuse(http.StatusBadRequest, "A branch called '%s' already exists. Switch to that branch in "+
			"order to make changes", in.Branch)
	case in.isOtherBranch && !isBranchName(in.Branch):
		return commit{}, refuse(http.StatusBadRequest, "Something went wrong when we tried to create '%s' for you: Branch "+
			"name is invalid", in.Branch)
	}
	c, ok := r.git.resolve(cmp.Or(in.StartSHA, in.StartBranch))
	if !ok {
		return commit{}, refuse(http.StatusBadRequest, "Cannot find start_sha '%s'", in.StartSHA)
	}
	return c, nil
}

// apply returns the tree after one action.
func (r *Repository) apply(in *commitRequest, do commitAction, tree string) (string, *refusal) {
	from := cmp.Or(do.PreviousPath, do.Path)
	old, has := r.git.find(tree, from)
	_, isThere := r.git.find(tree, do.Path)
	last := r.git.lastCommit(r.git.head(cmp.Or(in.StartBranch, DefaultBranch)), from)
	switch {
	case !isPath(do.Path) || !isPath(from):
		return "", refuse(http.StatusBadRequest, "invalid path: '%s'", do.Path)
	case !slices.Contains([]string{"create", "update", "delete", "move", "chmod"}, do.Action):
		return "", &refusal{http.StatusBadRequest, "actions[0][action] does not have a valid value"}
	case do.Action == "create" && isThere, do.Action == "move" && isThere:
		return "", refuse(http.StatusBadRequest, "A file with this name already exists")
	case do.Action != "create" && !has:
		return "", refuse(http.StatusBadRequest, "A file with this name doesn't exist")
	case do.Action != "create" && do.LastCommitID != "" && last != "" && do.LastCommitID != last:
		return "", refuse(http.StatusBadRequest, "The file has changed since you started editing it: %s", from)
	case (do.Action == "create" || do.Action == "update") && do.Content == nil:
		return "", refuse(http.StatusBadRequest, "content is missing")
	}
	id, mode := old.id, cmp.Or(old.mode, modeFile)
	if do.Content != nil {
		data := []byte(*do.Content)
		if do.Encoding == "base64" {
			raw, err := base64.StdEncoding.DecodeString(*do.Content)
			if err != nil {
				return "", refuse(http.StatusBadRequest, "content is not base64")
			}
			data = raw
		}
		id = r.git.write("blob", data)
	}
	if do.Executable != nil {
		mode = map[bool]string{true: "100755", false: modeFile}[*do.Executable]
	}
	if do.Action == "delete" || do.Action == "move" {
		tree = r.git.put(tree, from, "", "")
	}
	if do.Action != "delete" {
		tree = r.git.put(tree, do.Path, mode, id)
	}
	return tree, nil
}

// isPath reports whether git takes a path.
func isPath(path string) bool {
	return path != "" && !slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool {
		return part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git")
	})
}
