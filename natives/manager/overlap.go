package manager

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/app-sre/prcheck/natives/manifests"
)

// A share is the part of the work of an integration that one process does, as its environment
// says.
type share struct {
	integration string
	key         string // "" means all keys
	shards, id  string // "" means that the work is not divided by number
}

// overlaps reports whether two processes would do the same work. Static shards of different
// numbers have work in common, since the number decides who does it.
func (s share) overlaps(t share) bool {
	switch {
	case s.integration != t.integration:
		return false
	case s.key != t.key:
		return s.key == "" || t.key == ""
	default:
		return s.shards != t.shards || s.id == t.id
	}
}

// kindOf returns the kind of a manifest. Objects of a list say none.
func kindOf(o manifests.Object) manifests.Kind { return manifests.Named(fmt.Sprint(o["kind"])) }

// runs reports whether the processes of an object are to run: it has replicas.
func runs(o manifests.Object) bool {
	return o != nil && fmt.Sprint(field(o, "spec")["replicas"]) != "0"
}

// shareAnnotation has the share of an object as JSON. The pod cannot say it for certain: a template
// of the installation may have no such variables, and extraEnv may replace them.
const shareAnnotation = "qontract.share"

// withShare returns an object with its share as an annotation.
func withShare(o manifests.Object, s share) manifests.Object {
	// texts do not fail
	raw, _ := json.Marshal(map[string]string{"integration": s.integration, "key": s.key, "shards": s.shards, "id": s.id})
	meta := maps.Clone(field(o, "metadata"))
	notes := maps.Clone(field(meta, "annotations"))
	if notes == nil {
		notes = manifests.Object{}
	}
	notes[shareAnnotation] = string(raw)
	meta["annotations"] = notes
	o = maps.Clone(o)
	o["metadata"] = meta
	return o
}

// notedShare returns the share that the annotation of an object says.
func notedShare(o manifests.Object) (share, bool) {
	text, _ := field(field(o, "metadata"), "annotations")[shareAnnotation].(string)
	var is struct{ Integration, Key, Shards, ID string }
	err := json.Unmarshal([]byte(text), &is)
	return share{is.Integration, is.Key, is.Shards, is.ID}, err == nil && is.Integration != ""
}

// isProcess reports whether the objects of a kind run all the time.
func isProcess(k manifests.Kind) bool { return k == manifests.Deployment || k == manifests.StatefulSet }

// shareOf returns the share of an object: as its annotation says, or else the environment of its
// process, as in objects that somebody else made. It returns false if the object does not run all
// the time, or runs no integration.
func shareOf(of manifests.Kind, o manifests.Object) (share, bool) {
	if !isProcess(of) {
		return share{}, false
	}
	if s, ok := notedShare(o); ok {
		return s, true
	}
	spec := field(o, "spec")
	s := share{}
	eachContainer(field(field(spec, "template"), "spec")["containers"], func(c manifests.Object) {
		if c["name"] != "int" {
			return
		}
		eachContainer(c["env"], func(variable manifests.Object) {
			value, _ := variable["value"].(string)
			switch variable["name"] {
			case "INTEGRATION_NAME":
				s.integration = value
			case "SHARD_KEY":
				s.key = value
			case "SHARDS":
				s.shards = value
			case "SHARD_ID":
				s.id = value
			}
		})
	})
	return s, s.integration != ""
}
