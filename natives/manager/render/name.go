package render

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/natives/manifests"
)

// component is the name that all integrations share, and the beginning of all names.
const component = "qontract-reconcile"

// The longest names. Kubernetes makes names and labels of its own from those of a CronJob and
// of a StatefulSet.
const (
	maxName      = 63
	maxShortName = 52
	digestLength = 8
)

var (
	safeName   = lazyregexp.New(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)
	safeLabel  = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$`)
	usableName = lazyregexp.New(`^[A-Za-z0-9_-]+$`) // of an integration, since parameters are named after it
)

// ObjectName returns a name that Kubernetes accepts for the object of an integration: in lower
// case, with dashes for underscores, and cut if it is too long. A name that is cut ends with a
// digest of the full name. It returns "" if the name has characters that cannot be replaced.
func ObjectName(kind manifests.Kind, integration, suffix string) string {
	full := component + "-" + integration + suffix
	name := strings.ReplaceAll(strings.ToLower(full), "_", "-")
	if kind == manifests.StatefulSet { // its name becomes that of hosts
		name = strings.ReplaceAll(name, ".", "-")
	}
	if limit := nameLimit(kind); len(name) > limit {
		digest := sha256.Sum256([]byte(full))
		head := strings.TrimRight(name[:limit-digestLength-1], ".") // no dash may follow a dot
		name = head + "-" + hex.EncodeToString(digest[:])[:digestLength]
	}
	if !safeName.MatchString(name) {
		return ""
	}
	return name
}

func nameLimit(kind manifests.Kind) int {
	if kind == manifests.CronJob || kind == manifests.StatefulSet {
		return maxShortName
	}
	return maxName
}

// name returns the name of the object of a shard. It reports false after a mistake.
func (r *renderer) name(shard Shard) (string, bool) {
	if strings.ContainsAny(shard.Key, " \t\r\n") {
		r.mistake(overridePointer(shard), "%s: its key has a blank, and would become two arguments", shard)
		return "", false
	}
	safe := ObjectName(r.kind, r.of.Name, shard.Suffix)
	full := component + "-" + r.of.Name + shard.Suffix
	switch {
	case safe == "":
		r.mistake(overridePointer(shard), "%s: %.80q can be no name in Kubernetes; use letters, digits and dashes", shard,
			full)
		return "", false
	case r.Parity && (!safeName.MatchString(full) || len(full) > nameLimit(r.kind)):
		r.mistake(overridePointer(shard), "%s: %.80q is no name in Kubernetes, and in parity mode it does not become %s",
			shard, full, safe)
		return "", false
	case r.Parity:
		return full, true
	}
	return safe, true
}

// app returns the label that all shards of the integration share.
func (r *renderer) app() string {
	full := component + "-" + r.of.Name
	if r.Parity || safeLabel.MatchString(full) {
		return full
	}
	return ObjectName(manifests.Deployment, r.of.Name, "")
}
