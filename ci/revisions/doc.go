// Package revisions tells which two commits a job of GitLab compares: head is the commit of
// the job, and base is the commit that it is to be merged into, as the variables of the job
// name them. [ReadJob] reads the variables, [Job.Find] makes both commits available in the
// clone.
//
// Only here is a commit fetched from the network, and only one that a shallow clone lacks.
package revisions
