// Package pipeline writes a plan as a child pipeline of GitLab: the parts of the
// plan as parallel jobs, the run order between them, and a last job that puts
// their results together and tells what they say.
//
// # Rules
//
//   - Every task of the plan is run by exactly one instance of one job. Which part
//     an instance runs follows from the number GitLab gives it, so that a job holds
//     up to 200 parts and the document stays small whatever the plan holds.
//   - Nothing of the plan but numbers reaches the document: no name, path or
//     command of a merge request is in it, and so no shell sees one. What is not a
//     number comes from the one who calls.
//   - A part is of one run order. The jobs of an order wait for those of the one
//     before, whatever came of them, since a red order stops no other.
//   - Nothing turns green by what is lost: a part without results is a failure in
//     the last job, and a plan or a program that is missing fails each job.
//   - Same plan and options, same bytes.
//
// # Awkward cases
//
// GitLab lets a job need at most 50 others and counts each instance of a parallel
// one, so larger orders wait for the stage before theirs instead. A job that needs
// any other, also one of the parent pipeline, ignores the stages; so a first job
// fetches what the parent made, and the others take it from there. A pipeline
// without jobs is an error for GitLab: when there is no task, a job says so. Jobs
// without rules are left out of pipelines of merge requests, and so of their
// children, unless the workflow has rules; so it has one.
//
// With more than [MaxOrders] run orders there is one part, which runs them one
// after the other.
package pipeline
