// Package render makes the objects of Kubernetes that an integration runs as: one Deployment or
// StatefulSet for each shard, or one CronJob. It is pure: the same input gives the same objects.
//
// Objects are made with references to parameters, such as ${IMAGE}, which package template
// fills in. So an environment can override them, and texts of the data may name them as well.
//
// There are two modes. In parity mode the objects are those that the chart of
// qontract-reconcile gives. The default differs from it in five points only:
//
//   - A Deployment has the strategy Recreate, so that no shard runs twice.
//   - A Deployment or StatefulSet has a label of its own, [manifests.InstanceLabel], on the
//     object, in the selector and on its pods.
//   - A CronJob does not overlap unless its concurrencyPolicy says so.
//   - A CronJob heeds imageRef.
//   - Names are made safe, see [ObjectName].
//
// In both modes an image without a digest ends without "@", and of two variables of one name
// only the last is there, since server-side apply refuses both.
//
// An installation can bring a [PodTemplate] of its own.
package render
