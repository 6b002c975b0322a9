// Package pipeline writes a plan as a child pipeline of GitLab. The pipeline runs the parts
// of the plan as parallel jobs, one run order after the other. Its last job collects the
// results and reports them.
//
// # Rules
//
//   - Every task of the plan runs in exactly one instance of one job. An instance finds
//     out its part from the number that GitLab gives it. So one job runs up to 200 parts,
//     and the document stays small for every plan.
//   - The document contains only numbers from the plan: no name, path or command of a merge
//     request. So no shell ever reads one. All other values come from the caller.
//   - All tasks of a part have the same run order. The jobs of an order start when the jobs
//     of the order before have ended, also if these failed.
//   - Lost results never look like success. A part without results is a failure in the
//     last job. A missing plan or program fails each job.
//   - The same plan and options give the same bytes.
//
// # Limits of GitLab
//
//   - A job can need at most 50 other jobs, and each instance of a parallel job counts. The
//     jobs after a larger order therefore have no needs and wait for the stage before.
//   - A job with needs ignores the stages, also if it needs a job of the parent pipeline.
//     So only the first job needs the parent pipeline: it fetches the plan and the bundles,
//     and the other jobs take them from the first job.
//   - A pipeline without jobs is an error. A plan without tasks becomes a job that says so.
//   - Jobs without rules are left out of pipelines of merge requests, and so of their child
//     pipelines, unless the workflow has rules. So the workflow has a rule.
//   - A plan with more than [MaxOrders] run orders becomes one part, which runs the orders
//     one after the other.
package pipeline
