// Package submit runs a plan in parts on Kubernetes.
//
//   - The plan, both bundles and the settings go into a bucket. The plan is stored
//     last: once it is there, everything is there.
//   - Tasks have a run order. The parts of one run order are the pods of one Indexed Job
//     (a [round]), and one Job runs after the other. A plan in one part is one Job, whose
//     pod runs the tasks in their order.
//   - Each pod runs "runner run" for its part and stores results and logs in the bucket.
//     A part without results that belong to it has failed, and a warning says why.
//   - A submission that was killed can be continued: the same command with the same name
//     finds its plan in the bucket and its Job in the cluster.
//   - When the context ends, the Jobs are removed.
package submit
