package manager

import (
	"fmt"

	"github.com/app-sre/prcheck/integration/manifests"
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

// shareOf returns the share of an object that runs all the time. It returns false if the object
// runs nothing, because it has no replicas, or if it is of another kind.
func shareOf(o manifests.Object) (share, bool) {
	kind := manifests.Kind(fmt.Sprint(o["kind"]))
	spec := field(o, "spec")
	if kind != manifests.Deployment && kind != manifests.StatefulSet || fmt.Sprint(spec["replicas"]) == "0" {
		return share{}, false
	}
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
