// Package forge reads the merge requests of a project of GitLab for package queue, and for the comparison with the
// peer.
//
// A round costs one request for the project, one for the branch, one for each hundred open merge requests, and one for
// each that has a label of approval: who gave it, and when. The comparison costs two more for each of these.
package forge
