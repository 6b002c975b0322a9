// Package gitlabtest is a GitLab for tests: notes of merge requests, commit
// statuses, pipelines, jobs and artifacts, as its API answers. What a real one
// would refuse it refuses, and what a client must not send it reports. Faults are
// up to the test.
package gitlabtest
