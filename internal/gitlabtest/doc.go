// Package gitlabtest provides a GitLab server for tests. It answers like the API of GitLab
// for notes of merge requests, commit statuses, pipelines, jobs and artifacts. It refuses
// requests that a real GitLab would refuse, and reports requests that a client must not
// send. A test can make any request fail.
package gitlabtest
