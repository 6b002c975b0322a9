package manifests

import (
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/natives/reconcile"
)

// changeable are the members of the spec of a StatefulSet that the server lets change.
var changeable = []string{"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
	"persistentVolumeClaimRetentionPolicy",
	"minReadySeconds"}

// fixedInJobs are the members of the spec of a Job that the server lets nobody change. Who made a
// Job by an update owns all defaults of the server: their removal is none before we applied it.
var fixedInJobs = []string{"template", "selector", "manualSelector", "completions", "completionMode",
	"podFailurePolicy", "successPolicy",
	"backoffLimitPerIndex", "maxFailedIndexes", "podReplacementPolicy", "managedBy"}

// isBinding reports whether the objects of a kind bind a role to accounts.
func isBinding(k Kind) bool {
	return k.Name == "RoleBinding" || k.Name == "ClusterRoleBinding"
}

// judgeImmutable adds to d what follows from fields that cannot be changed:
//
//	Deployment   the selector      replaced if the options say so, otherwise a mistake
//	StatefulSet  the selector      replaced if the options say so, otherwise a mistake
//	StatefulSet  size of a claim   replaced if it grows, a mistake if it shrinks
//	StatefulSet  other fields      replaced, but for those of changeable
//	Service      the cluster's IP  a mistake
//	Job          what its pods are replaced
//	Secret       its type          replaced
//	Secret, ConfigMap  anything    replaced if it says that it is immutable
//	RoleBinding  its role          replaced
func (c *comparison) judgeImmutable(d *reconcile.Difference, found []difference) {
	isFixed := (c.live.Kind == secret || c.live.Kind == configMap) && c.live.Object["immutable"] == true
	for _, f := range found {
		switch top := f.at.name(0); {
		case isFixed && top != "metadata", c.live.Kind == secret && top == "type" && f.want != nil,
			isBinding(c.live.Kind) && top == "roleRef":
			d.Replace = true
		}
		if f.at.name(0) != "spec" {
			continue
		}
		field := f.at.name(1)
		isSelector := field == "selector" && (c.live.Kind == Deployment || c.live.Kind == StatefulSet)
		switch {
		case isSelector && !c.options.MigrateSelector:
			d.Mistake = immutable("spec.selector", "the settings must say migrate_selector: true, then it is deleted and "+
				"made anew")
		case isSelector:
			d.Replace = true
		case c.live.Kind == Job && slices.Contains(fixedInJobs, field) && (f.want != nil || c.live.isApplied(c.options)):
			d.Replace = true
		case c.live.Kind == StatefulSet && !slices.Contains(changeable, field) && !f.isDefault():
			d.Replace = true
		case c.live.Kind == Service && slices.Contains([]string{"clusterIP", "clusterIPs", "ipFamilies"}, field):
			d.Mistake = immutable("spec."+field, "delete the Service by hand, then it is made anew")
		}
	}
	if c.live.Kind == StatefulSet && d.Replace {
		c.judgeClaims(d)
	}
}

// isDefault reports whether a value of a StatefulSet goes that the server sets again by itself.
// An update makes its client the owner of all defaults, so those of kubectl have some.
func (d difference) isDefault() bool {
	return d.want == nil && d.at.name(1) == "podManagementPolicy" && text(d.is) == "OrderedReady"
}

func immutable(field, remedy string) reconcile.Mistake {
	return reconcile.Mistake{Code: CodeImmutable, Message: field + " cannot be changed: " + remedy}
}

// judgeClaims adds to d what follows from changed templates of claims.
func (c *comparison) judgeClaims(d *reconcile.Difference) {
	before := map[string]claim{}
	for _, old := range claimsOf(c.live.Object) {
		before[old.name] = old
	}
	for _, now := range claimsOf(c.want) {
		old, isThere := before[now.name]
		if !isThere {
			continue
		}
		if isSmaller(now.storage, old.storage) {
			d.Mistake = immutable("spec.volumeClaimTemplates", fmt.Sprintf("the claim %.60q would shrink from %.20s to %.20s, "+
				"and claims only grow; ask for %.20s or delete the StatefulSet and its claims by hand", now.name, old.storage,
				now.storage, old.storage))
		}
		if now.class != old.class && now.class != "" {
			d.Warnings = append(d.Warnings,
				fmt.Sprintf("claims %.60q that exist keep the storage class %.60q; only new ones get %.60q", now.name, old.class,
					now.class))
		}
	}
}

// A claim is a template of claims of a StatefulSet.
type claim struct{ name, class, storage string }

// claimsOf returns the templates of claims of a StatefulSet.
func claimsOf(o Object) []claim {
	var out []claim
	templates, _ := at(o, "spec", "volumeClaimTemplates").([]any)
	for _, t := range templates {
		one := claim{name: text(at(t, "metadata", "name")), class: text(at(t, "spec", "storageClassName")),
			storage: text(at(t, "spec", "resources", "requests", "storage"))}
		if one.name != "" {
			out = append(out, one)
		}
	}
	return out
}

// text returns a scalar as text, "" if there is none.
func text(v any) string {
	switch v.(type) {
	case nil, map[string]any, []any:
		return ""
	}
	return fmt.Sprint(v)
}
