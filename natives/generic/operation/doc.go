// Package operation follows long-running operations: requests that a service accepts, and
// carries out after its answer.
//
// [Begin] reads from the first answer whether there is an operation, and where one asks about
// it. A [Follower] asks until it ends. An [Operation] is a JSON document that is stored before
// the first wait and whenever the address moves: a process that is killed resumes it with the
// same Follower, and never starts it a second time.
//
//   - Azure-AsyncOperation wins over Location, and the resource itself is asked without either.
//   - Succeeded, Failed and Canceled are the ends, in any case and with one or two l.
//   - The address must be of the host of the endpoint: credentials go nowhere else.
//   - After the end the resource decides: it is read once more by who follows.
//   - When the time is over the operation is [Pending], which is no failure.
package operation
