package namespaces

import (
	"context"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/settings"
)

// Name is the name of the native.
const Name = "namespaces"

// New returns the native integration.
func New() integration.Native {
	return native.Make(native.Recipe{
		Name: Name, Class: reconcile.Blind,
		Desired: desired, Current: current, Compare: compare, Doer: newDoer, Alters: alters, Sets: sets,
		Places: places, Label: label,
		CheckSettings: func(own settings.Own) error {
			_, err := readSettings(own)
			return err
		},
	})
}

// OwnSettings are what the settings of the integration say.
type ownSettings struct {
	// Instance is the caller whose mark the namespaces get.
	Instance string `yaml:"instance"`
	// Instances are all instances; without them every other instance counts as living.
	Instances []string `yaml:"instances"`
	// Annotations tells that the data have annotations of namespaces.
	Annotations bool `yaml:"annotations"`
}

// readSettings reads the settings.
func readSettings(own settings.Own) (ownSettings, error) {
	s := ownSettings{Instance: "default"}
	if err := own.Decode(&s); err != nil {
		return s, err
	}
	if s.Instances != nil && !slices.Contains(s.Instances, s.Instance) {
		return s, own.Mistake(fmt.Sprintf("must contain the instance %q itself", s.Instance), "instances")
	}
	return s, nil
}

// A body is what a namespace should be.
type body struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Admin       bool              `json:"admin,omitempty"` // it is written with the privileged token
}

// A target is how a cluster is reached.
type target struct {
	integration.ClusterRef
	Admin *integration.SecretRef `json:"admin,omitempty"` // the privileged token, nil if there is none
}

// ref returns how the cluster is reached for a namespace.
func (t target) ref(b body) (integration.ClusterRef, error) {
	ref := t.ClusterRef
	switch {
	case b.Admin && t.Admin == nil:
		return ref, reconcile.Config(fmt.Errorf("cluster %q has no clusterAdminAutomationToken", t.Name))
	case b.Admin:
		ref.Token = *t.Admin
	case ref.Token == (integration.SecretRef{}):
		return ref, reconcile.Config(fmt.Errorf("cluster %q has no automationToken", t.Name))
	}
	return ref, nil
}

// targetOf returns the target of a part.
func targetOf(p native.Part) (target, error) {
	t, ok := p.Target.(target)
	if !ok {
		return t, fmt.Errorf("part %q has a target of type %T", p.Shard, p.Target)
	}
	return t, nil
}

// resource is the type of objects that namespaces are.
func resource() integration.Resource {
	return integration.Resource{Version: "v1", Plural: "namespaces"}
}

// desired returns what the data say.
func desired(ctx context.Context, query integration.QueryFunc, it settings.Integration) (native.Desired, error) {
	s, err := readSettings(it.Own)
	if err != nil {
		return native.Desired{}, reconcile.Config(err)
	}
	entries, err := ask(ctx, query, s.Annotations)
	if err != nil {
		return native.Desired{}, err
	}
	d := native.Desired{Callers: s.Instances}
	at := map[string]int{} // index of the part of a cluster
	for _, e := range entries {
		if e.ManagedByExternal {
			continue
		}
		i, known := at[e.Cluster.Name]
		if !known {
			i = len(d.Parts)
			at[e.Cluster.Name] = i
			d.Parts = append(d.Parts, e.Cluster.part(it.Name, s.Instance))
		}
		d.Parts[i].Items = append(d.Parts[i].Items, e.item())
	}
	return d, nil
}
