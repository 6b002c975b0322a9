// Package render makes the objects of Kubernetes that a target of a saas file deploys.
//
//   - Parameters come from the environment, the saas file, the template and the target, each
//     followed by its secrets. A later value wins and keeps the place of the first. Then each
//     parameter, in this order, replaces ${NAME} in all of them, once.
//   - A template of OpenShift, a folder of manifests or a Helm chart becomes objects. Objects of
//     kinds that the saas file does not manage are left out and told.
//   - Images must begin with a pattern of the saas file and exist in their registry.
//
// The same input gives the same bytes. What is wrong in the data is a [TargetMistake]; an error of a
// service is returned as it is, because then nobody knows. A service that is not there (nil)
// leaves something unchecked, and [Output.Unchecked] says what.
//
// # Secrets
//
// Places that hold values of secrets are found by rendering twice: with the values, and with
// placeholders that occur nowhere else. A place at which the results differ depends on a secret.
// This also finds short secrets, secrets that look like other text, and secrets that a chart
// encodes or digests. Messages are taken from the second rendering, so they have no secret.
package render
