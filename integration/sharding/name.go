package sharding

import "github.com/app-sre/prcheck/internal/names"

// The maximal lengths of names on Kubernetes.
const (
	MaxName    = 63 // of most objects that are named by a DNS label
	MaxCronJob = 52 // of a CronJob, which appends to its name
)

// Name returns a name for any key where names are DNS labels, as on Kubernetes: the key itself
// if it is such a label of at most maxLength characters (from 28 to 63), or else a readable part
// of it with a digest. Different keys have different names, also if they differ in case only,
// and a key always has the same name.
func Name(key string, maxLength int) string { return names.DNSLabel(key, maxLength) }
