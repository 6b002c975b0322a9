// Package render makes the objects of Kubernetes that an integration runs as: one Deployment or
// StatefulSet for each shard, or one CronJob.
package render
