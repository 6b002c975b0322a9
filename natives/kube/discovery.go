package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/integration"
)

// aggregated are the media types of a list of all kinds in one answer, which servers since
// Kubernetes 1.27 have, and of the list of groups that all servers have.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"

// knownFor is how old what is known of a server must be until a kind that is missing makes it
// ask again: somebody may have installed it.
const knownFor = time.Minute

// A discovery is what a connection knows of the kinds of its server.
type discovery struct {
	mu     sync.Mutex
	since  time.Time // of the answer; zero is none
	groups []group   // the core group first, then in the order of the server
}

// A group is a group of kinds. The version that the server prefers comes first.
type group struct {
	name     string
	versions []*version
}

// A version is a version of a group.
type version struct {
	name    string
	kinds   map[string]integration.Kind // by name; nil if nobody asked yet
	isStale bool                        // the server could not reach what serves it, so that kinds may be missing
}

// Kind implements [integration.ClusterReader]. The server is asked once for a connection, by one
// request each for the core group and the others. A server that does not list all kinds at once
// is asked for each version that is looked at.
func (o *Objects) Kind(ctx context.Context, apiVersion, kind string) (integration.Kind, error) {
	d := &o.c.known
	d.mu.Lock()
	defer d.mu.Unlock()
	isOld := time.Since(d.since) > knownFor
	if d.groups == nil {
		if err := o.discover(ctx); err != nil {
			return integration.Kind{}, err
		}
		isOld = false
	}
	k, err := o.find(ctx, apiVersion, kind)
	if isOld && errors.Is(err, integration.ErrNotThere) {
		if err := o.discover(ctx); err != nil {
			return integration.Kind{}, err
		}
		k, err = o.find(ctx, apiVersion, kind)
	}
	return k, err
}

// find looks for a kind among those that are known.
func (o *Objects) find(ctx context.Context, apiVersion, kind string) (integration.Kind, error) {
	name, of, hasGroup := strings.Cut(apiVersion, "/")
	if !hasGroup {
		name, of = "", apiVersion
	}
	stale := ""
	for _, g := range o.c.known.groups {
		if apiVersion != "" && g.name != name {
			continue
		}
		for _, v := range g.versions {
			if of != "" && v.name != of {
				continue
			}
			if err := o.ask(ctx, g.name, v); err != nil {
				return integration.Kind{}, err
			}
			if k, ok := v.kinds[kind]; ok {
				return k, nil
			}
			if v.isStale {
				stale = apiVersionOf(g.name, v.name)
			}
		}
	}
	if stale != "" {
		return integration.Kind{}, integration.Failure(integration.FailureTransient,
			fmt.Errorf("cluster %q: nobody knows whether there is a kind %.100q: "+
				"what serves %.100q does not answer", o.c.cluster, kind, stale))
	}
	return integration.Kind{}, fmt.Errorf("cluster %q: a kind %.100q of %.100q: %w", o.c.cluster, kind, apiVersion,
		integration.ErrNotThere)
}

func apiVersionOf(group, version string) string {
	return apiVersion(integration.Resource{Group: group, Version: version})
}

// discover asks for the groups and, if the server can, for all of their kinds.
func (o *Objects) discover(ctx context.Context) error {
	core, err := o.groups(ctx, "api")
	if err != nil {
		return err
	}
	if core == nil {
		core = []group{{versions: []*version{{name: "v1"}}}}
	}
	others, err := o.groups(ctx, "apis")
	if err != nil {
		return err
	}
	o.c.known.groups, o.c.known.since = slices.Concat(core, others), time.Now()
	return nil
}

// A groupList is an answer with groups: a list of groups with their kinds, or one of groups alone.
type groupList struct {
	Kind  string
	Items []struct {
		Metadata struct{ Name string }
		Versions []struct {
			Version, Freshness string
			Resources          []struct {
				Resource, Scope string
				ResponseKind    struct{ Kind string }
				Verbs           []string
			}
		}
	}
	Groups []struct {
		Name             string
		Versions         []struct{ Version string }
		PreferredVersion struct{ Version string }
	}
}

// groups returns the groups below an address; nil if it is that of the core group and the server
// does not list its kinds there.
func (o *Objects) groups(ctx context.Context, path string) ([]group, error) {
	of := Call{Method: http.MethodGet, Verbs: "get", Path: []string{path}, Accept: aggregated}
	raw, err := o.c.Send(ctx, of)
	if err != nil {
		return nil, err
	}
	var is groupList
	err = json.Unmarshal(raw, &is)
	switch {
	case err == nil && is.Kind == "APIVersions" && path == "api":
		return nil, nil
	case err == nil && is.Kind != "APIGroupDiscoveryList" && is.Kind != "APIGroupList":
		err = fmt.Errorf("it is %.100q", is.Kind)
	}
	if err != nil {
		return nil, o.c.explain(of, &trouble{text: "the answer is no list of groups: " + err.Error()})
	}
	return is.groups(), nil
}

// groups returns the groups of an answer.
func (l groupList) groups() []group {
	out := []group{}
	for _, item := range l.Items {
		g := group{name: item.Metadata.Name}
		for _, v := range item.Versions {
			next := &version{name: v.Version, isStale: v.Freshness == "Stale", kinds: map[string]integration.Kind{}}
			for _, r := range v.Resources {
				next.add(g.name, r.Resource, r.ResponseKind.Kind, r.Scope == "Namespaced", r.Verbs)
			}
			g.versions = append(g.versions, next)
		}
		out = append(out, g)
	}
	for _, item := range l.Groups {
		g := group{name: item.Name, versions: []*version{{name: item.PreferredVersion.Version}}}
		for _, v := range item.Versions {
			if v.Version != item.PreferredVersion.Version {
				g.versions = append(g.versions, &version{name: v.Version})
			}
		}
		out = append(out, g)
	}
	return out
}

// add adds a kind if its objects can be read and listed.
func (v *version) add(group, plural, kind string, isNamespaced bool, verbs []string) {
	if strings.Contains(plural, "/") || kind == "" || !slices.Contains(verbs, "list") || !slices.Contains(verbs, "get") {
		return
	}
	if _, ok := v.kinds[kind]; !ok {
		v.kinds[kind] = integration.Kind{Resource: integration.Resource{Group: group, Version: v.name, Plural: plural},
			Name: kind, Namespaced: isNamespaced}
	}
}

// ask asks for the kinds of a version unless they are known.
func (o *Objects) ask(ctx context.Context, group string, v *version) error {
	if v.kinds != nil {
		return nil
	}
	of := Call{Method: http.MethodGet, Verbs: "get", Path: []string{"api", v.name}}
	if group != "" {
		of.Path = []string{"apis", group, v.name}
	}
	raw, err := o.c.Send(ctx, of)
	if err != nil {
		return err
	}
	var is struct {
		Kind, GroupVersion string
		Resources          []struct {
			Name, Kind string
			Namespaced bool
			Verbs      []string
		}
	}
	err = json.Unmarshal(raw, &is)
	if err == nil && (is.Kind != "APIResourceList" || is.GroupVersion != apiVersionOf(group, v.name)) {
		err = fmt.Errorf("it is %.100q of %.100q", is.Kind, is.GroupVersion)
	}
	if err != nil {
		return o.c.explain(of, &trouble{text: "the answer is no list of kinds: " + err.Error()})
	}
	v.kinds = map[string]integration.Kind{}
	for _, r := range is.Resources {
		v.add(group, r.Name, r.Kind, r.Namespaced, r.Verbs)
	}
	return nil
}
