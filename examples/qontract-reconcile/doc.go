// Package reconcile has the settings for the integrations of qontract-reconcile as files.
package reconcile

import "embed"

// Files has prcheck.yaml and the query files that it names.
//
//go:embed prcheck.yaml queries
var Files embed.FS
