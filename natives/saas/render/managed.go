package render

import (
	"fmt"
	"slices"
	"strings"
)

// keep fills in the objects that the saas file manages. hidden are the same objects with
// placeholders in place of secrets, and marked those with marks.
func (r *renderer) keep(shown, hidden, marked []any) error {
	address := r.address()
	seen := map[string]bool{}
	for i, value := range shown {
		object, isMap := value.(map[string]any)
		kind, _ := object["kind"].(string)
		version, _ := object["apiVersion"].(string)
		if !isMap || kind == "" || version == "" {
			r.skip("value %d is no object of Kubernetes: it needs kind and apiVersion", i+1)
			continue
		}
		masked := r.secrets.places(value, hidden[i], "")
		of := label(object, masked)
		metadata, _ := object["metadata"].(map[string]any)
		name, _ := metadata["name"].(string)
		file := r.in.Target.Template.File
		if !isManaged(file.ManagedTypes, kind, version) {
			r.skip("%s: the saas file does not manage its kind", of)
			continue
		}
		if name == "" {
			return &TargetMistake{Code: CodeObject, Message: of + " needs a name"}
		}
		if !r.isManagedName(kind, version, name) {
			r.skip("%s: the saas file does not manage its name", of)
			continue
		}
		if err := dropNamespace(metadata, r.in.Target.Namespace.Name, of); err != nil {
			return err
		}
		key := kindAndGroup(kind, version) + "/" + name
		if seen[key] {
			return &TargetMistake{Code: CodeObject, Message: of + " is there twice"}
		}
		seen[key] = true
		noteAddress(object, address)
		r.keepHidden(marked[i], address)
		r.out.Objects = append(r.out.Objects, object)
		r.out.Masked = append(r.out.Masked, masked)
	}
	return nil
}

// keepHidden adds an object with the names of secrets, which is treated as the object itself.
func (r *renderer) keepHidden(value any, address string) {
	object, _ := r.secrets.named(value).(map[string]any)
	if metadata, ok := object["metadata"].(map[string]any); ok {
		delete(metadata, "namespace")
	}
	noteAddress(object, address)
	r.out.Hidden = append(r.out.Hidden, object)
	r.out.Secrets = append(r.out.Secrets, r.secrets.usedIn(object))
}

// skip notes that something is left out.
func (r *renderer) skip(format string, args ...any) {
	r.out.Skipped = append(r.out.Skipped, fmt.Sprintf(format, args...))
}

// isManaged reports whether a kind, or kind.group, is among the managed types.
func isManaged(types []string, kind, version string) bool {
	return slices.Contains(types, kind) || slices.Contains(types, kindAndGroup(kind, version))
}

// kindAndGroup returns Kind.group, or the kind alone for the core group.
func kindAndGroup(kind, version string) string {
	if group, _, hasGroup := strings.Cut(version, "/"); hasGroup {
		return kind + "." + group
	}
	return kind
}

// isManagedName reports whether the saas file manages an object of this name. It manages all
// names of a kind for which it lists none.
func (r *renderer) isManagedName(kind, version, name string) bool {
	for _, of := range r.in.Target.Template.File.ManagedNames {
		if (of.Resource == kind || of.Resource == kindAndGroup(kind, version)) && !slices.Contains(of.Names, name) {
			return false
		}
	}
	return true
}

// dropNamespace takes the namespace out of the metadata. It must be that of the target: a target
// deploys nowhere else.
func dropNamespace(metadata map[string]any, namespace, label string) error {
	if is, isThere := metadata["namespace"]; isThere && is != nil && is != "" && is != namespace {
		return &TargetMistake{Code: CodeObject,
			Message: fmt.Sprintf("%s names another namespace than that of the target, %.63q: remove it there", label, namespace)}
	}
	delete(metadata, "namespace")
	return nil
}

// noteAddress adds the address of the template to the annotations of rules of Prometheus that
// have annotations, as qontract-reconcile does.
func noteAddress(object map[string]any, address string) {
	if object["kind"] != "PrometheusRule" {
		return
	}
	spec, _ := object["spec"].(map[string]any)
	groups, _ := spec["groups"].([]any)
	for _, group := range groups {
		group, _ := group.(map[string]any)
		rules, _ := group["rules"].([]any)
		for _, rule := range rules {
			rule, _ := rule.(map[string]any)
			if annotations, _ := rule["annotations"].(map[string]any); len(annotations) > 0 {
				annotations["html_url"] = address
			}
		}
	}
}
