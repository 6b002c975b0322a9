// Package gitlabtest provides a GitLab server for tests. It answers like the API of GitLab
// for notes of merge requests, commit statuses, pipelines, jobs and artifacts. It refuses
// requests that a real GitLab would refuse, and reports requests that a client must not
// send. A test can make any request fail.
//
// With a [Repository] it has branches, files, commits and merge requests as well. They are those
// of a real git repository: git computes conflicts and merges, and git clients fetch and push.
//
//   - A rebase may take a while, as one of GitLab does, and its failure stands in the merge request. See [Habits] for
//     forks that let nobody push, and for any word of detailed_merge_status.
//   - Who added and removed labels is noted.
//   - A push, by whoever and in whatever way, disarms a merge request that waits to be merged.
//   - A merge request whose branch is removed is closed.
//   - Nobody pushes to main through the API; a test commits there with [Repository.Commit].
//   - last_commit_id of an action is compared on the branch that the commit starts from, and on
//     main if the commit starts from a sha, as GitLab does.
package gitlabtest
