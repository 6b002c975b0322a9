package gitlabtest

import "net/http"

// rebase puts the commits of a merge request on top of its target. It is a push.
func (r *Repository) rebase(m *mergeRequest) *refusal {
	if m.State != opened {
		return refuse(http.StatusMethodNotAllowed, "405 Method Not Allowed")
	}
	on := r.git.head(m.Target)
	own := r.own(m)
	for i := len(own) - 1; i >= 0; i-- {
		c := own[i]
		if len(c.parents) != 1 {
			continue // a merge of the target is left out
		}
		// A commit of what we have, beside the commit: git merges both as of their parent.
		have, _ := r.git.commit(on)
		beside := r.git.writeCommit(commit{tree: have.tree, parents: c.parents, name: c.name, email: c.email, when: c.when,
			message: "beside"})
		tree, ok := r.git.merge(beside, c.id)
		if !ok {
			m.failure = "Rebase failed: Rebase locally, resolve all conflicts, then push the branch."
			return nil // GitLab answers 202, and notes in the merge request that it could not
		}
		on = r.git.writeCommit(commit{tree: tree, parents: []string{on}, name: c.name, email: c.email, when: r.tick(),
			message: c.message})
	}
	m.failure = ""
	if m.isQuiet && r.Pipelines && r.pipelines[on] == "" {
		r.pipelines[on] = "skipped"
	}
	r.git.point(heads+m.Source, on)
	r.refresh()
	return nil
}
