// Package manager deploys integrations: one Deployment, StatefulSet or CronJob for each shard
// of each integration, where the definitions say that it runs.
package manager
