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

// kindOf returns the kind of a manifest. Objects of a list say none.
func kindOf(o manifests.Object) manifests.Kind { return manifests.Kind(fmt.Sprint(o["kind"])) }

// runs reports whether the processes of an object are to run: it has replicas.
func runs(o manifests.Object) bool {
	return o != nil && fmt.Sprint(field(o, "spec")["replicas"]) != "0"
}

// shareOf returns the share of an object. It returns false if the object does not run all the
// time, as a Deployment and a StatefulSet do, or runs no integration.
func shareOf(of manifests.Kind, o manifests.Object) (share, bool) {
	if of != manifests.Deployment && of != manifests.StatefulSet {
		return share{}, false
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
