package saas

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/pyjson"
)

// Key returns the shard that a cell is: saas/environment.
func (c Cell) Key() string { return c.File.Name + "/" + c.Environment }

// maxCombo is how many characters of a combo the names of objects have.
const maxCombo = 56

// Combo returns the name of a cell for names of objects: saas-environment in lower case, at most
// 56 characters, without dashes at its end.
func (c Cell) Combo() string { return combo(c.File.Name, c.Environment) }

func combo(file, environment string) string {
	name := []rune(strings.ToLower(file + "-" + environment))
	return strings.TrimRight(string(name[:min(len(name), maxCombo)]), "-")
}

// Env returns the name of the environment of a target.
func (t *Target) Env() string { return t.Namespace.Environment.Name }

// Label returns the name of a target for people.
func (t *Target) Label() string {
	name := t.Template.File.Name + "/" + t.Template.Name
	if t.Name != nil {
		name += "/" + *t.Name
	}
	return name + " " + t.Namespace.Cluster.Name + "/" + t.Namespace.Name
}

// Calls returns what a target may be called in settings and commands, the narrowest name first: its identity,
// SAAS/TEMPLATE/ENVIRONMENT, its own name, SAAS/ENVIRONMENT, and its environment.
func (t *Target) Calls() []string {
	own := t.UID()
	if t.Name != nil && *t.Name != "" {
		own = *t.Name
	}
	of, env := t.Template.File.Name, ""
	if t.Namespace.Environment != nil {
		env = t.Env()
	}
	return []string{t.UID(), of + "/" + t.Template.Name + "/" + env, own, of + "/" + env, env}
}

// Called reports whether a target may be called by a name, see [Target.Calls].
func (t *Target) Called(name string) bool { return slices.Contains(t.Calls(), name) }

// UID returns the identity of a target in records of promotions: 40 hexadecimal digits.
func (t *Target) UID() string {
	name := "default"
	if t.Name != nil {
		name = cmp.Or(*t.Name, name)
	}
	of := t.Template.File
	return uid(strings.Join([]string{of.Name, t.Template.Name, name, t.Namespace.Cluster.Name, t.Namespace.Name}, ":"),
		of.fips)
}

// uidSize is how many bytes an identity has.
const uidSize = 20

// uid returns the identity that a text becomes. In FIPS mode, Python makes BLAKE2s from SHA-256.
func uid(text string, fips bool) string {
	if fips {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:uidSize])
	}
	return hex.EncodeToString(blake2s([]byte(text), uidSize))
}

// A Signal is why a cell can be deployed. Its name is that of the integration of
// qontract-reconcile that looks at it, without what all of them begin with.
type Signal string

// The signals that have a state in qontract-reconcile.
const (
	SignalConfig   Signal = "configs"
	SignalCommit   Signal = "moving-commits"
	SignalUpstream Signal = "upstream-jobs"
	SignalImages   Signal = "images"
)

// Folder returns the folder of the state of a signal, below that of qontract-reconcile.
func (s Signal) Folder() string { return "state/openshift-saas-deploy-trigger-" + string(s) }

// StateKey returns the name of the object in the folder of a signal that says what of the target
// was deployed last. It is "" if the target has no such signal.
func (t *Target) StateKey(s Signal) string {
	key := strings.Join([]string{t.Template.File.Name, t.Template.Name, t.Namespace.Cluster.Name, t.Namespace.Name,
		t.Env()}, "/")
	switch {
	case s == SignalConfig && (t.Name == nil || *t.Name == ""):
		return key
	case s == SignalConfig:
		return key + "/" + *t.Name
	case s == SignalCommit:
		return key + "/" + t.Ref
	case s == SignalUpstream && t.Upstream != nil:
		return key + "/" + t.Upstream.Instance + "/" + t.Upstream.Job
	case s == SignalImages && len(t.Images) > 0:
		var names []string
		for _, image := range t.Images {
			names = append(names, image.Address())
		}
		slices.Sort(names)
		return key + "/" + strings.Join(names, "/")
	}
	return ""
}

// Address returns the address of a repository of images, such as quay.io/org/name.
func (i Image) Address() string {
	return strings.TrimLeft(i.Registry+"/"+i.Org+"/"+i.Name, "/")
}

// hashLength is how many hexadecimal digits a config hash has.
const hashLength = 16

// ConfigHash returns the config hash of a content of a target, see [Target.Content]. Keys count
// in no order.
func ConfigHash(content any) string {
	sum := sha256.Sum256(pyjson.Sorted(content))
	return hex.EncodeToString(sum[:])[:hashLength]
}

// Hash returns the config hash of a target: 16 hexadecimal digits.
func (t *Target) Hash() string { return ConfigHash(t.Content()) }

// IsCommit reports whether a ref is the full sha of a commit.
func IsCommit(ref string) bool {
	if len(ref) != 40 {
		return false
	}
	return strings.Trim(ref, "0123456789abcdef") == ""
}
