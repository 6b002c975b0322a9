package deploy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// servingCert is the annotation by which a Service gets a Secret with a certificate.
var servingCert = []string{"service.beta.openshift.io/serving-cert-secret-name",
	"service.alpha.openshift.io/serving-cert-secret-name"}

// checkPlanned holds processes that use a Secret or a ConfigMap which is neither made nor there, or
// lacks a key: they could not start. It is for saas files that say validatePlannedData.
func (v *view) checkPlanned(ctx context.Context, reader integration.ClusterReader, out *native.Current) {
	for _, key := range slices.Sorted(keys(v.bodies)) {
		o := v.bodies[key].Object
		if kind := o["kind"]; kind != "Deployment" && kind != "DeploymentConfig" {
			continue
		}
		uses := usesOf(o)
		if v.isSecret(v.bodies[key], uses) {
			out.Unread[key] = errSecretUse
			continue
		}
		for _, of := range slices.SortedFunc(keys(uses), func(a, b used) int {
			return strings.Compare(a.kind+a.name, b.kind+b.name)
		}) {
			if err := v.lacks(ctx, reader, of, uses[of]); err != nil {
				out.Unread[key] = err
				break
			}
		}
	}
}

// errSecretUse says that nobody looks for what a process uses.
var errSecretUse = reconcile.Config(errors.New("validatePlannedData: a secret decides which Secret, ConfigMap or key " +
	"it uses: name them without secrets"))

// isSecret reports whether the values of secrets decide what a process uses: what is looked for before
// the merge of a change would tell them.
func (v *view) isSecret(b body, uses map[used][]string) bool {
	if v.run.writes || len(b.Masked) == 0 {
		return false
	}
	if plain, _ := blank(map[string]any(b.Object), "", b.Masked).(map[string]any); !maps.EqualFunc(uses, usesOf(plain),
		slices.Equal[[]string]) {
		return true
	}
	for of := range uses {
		made := v.bodies[objectKey(v.at, integration.Kind{Name: of.kind}, of.name)]
		if slices.ContainsFunc([]string{"/data", "/stringData", "/binaryData"}, func(at string) bool {
			return slices.Contains(made.Masked, at)
		}) {
			return true // a secret is a key
		}
	}
	return false
}

// blank returns a copy of a value with nothing at some places.
func blank(value any, at string, places []string) any {
	if slices.Contains(places, at) {
		return nil
	}
	switch is := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(is))
		for key, item := range is {
			out[key] = blank(item, jsonpointer.Append(at, key), places)
		}
		return out
	case []any:
		out := make([]any, len(is))
		for i, item := range is {
			out[i] = blank(item, at+"/"+strconv.Itoa(i), places)
		}
		return out
	}
	return value
}

// A used object is one whose values a process gets.
type used struct{ kind, name string }

// lacks returns why a process cannot use an object with some keys.
func (v *view) lacks(ctx context.Context, reader integration.ClusterReader, of used, members []string) error {
	what := fmt.Sprintf("validatePlannedData: the %s %.100s, which it uses,", of.kind, of.name)
	object := v.bodies[objectKey(v.at, integration.Kind{Name: of.kind}, of.name)].Object
	if object == nil {
		if of.kind == "Secret" && v.isCertificate(of.name) {
			return nil
		}
		plural := map[string]string{"Secret": "secrets", "ConfigMap": "configmaps"}[of.kind]
		raw, err := reader.Get(ctx, integration.ObjectRef{Resource: integration.Resource{Version: "v1", Plural: plural},
			Namespace: v.namespace, Name: of.name})
		switch {
		case errors.Is(err, integration.ErrNotThere):
			return reconcile.Config(fmt.Errorf("%s is neither there nor made", what))
		case err != nil:
			return fmt.Errorf("%s cannot be read: %w", what, err)
		}
		if err := json.Unmarshal(raw, &object); err != nil {
			return fmt.Errorf("%s cannot be read: it is no object", what) // the error could hold a value
		}
	}
	for _, name := range members {
		isThere := false
		for _, field := range []string{"data", "stringData", "binaryData"} {
			data, _ := object[field].(map[string]any)
			_, has := data[name]
			isThere = isThere || has
		}
		if !isThere {
			return reconcile.Config(fmt.Errorf("%s has no key %.100q", what, name))
		}
	}
	return nil
}

// isCertificate reports whether the cluster makes a Secret for a Service of the part.
func (v *view) isCertificate(secret string) bool {
	for _, b := range v.bodies {
		metadata, _ := b.Object["metadata"].(map[string]any)
		annotations, _ := metadata["annotations"].(map[string]any)
		for _, name := range servingCert {
			if b.Object["kind"] == "Service" && annotations[name] == secret {
				return true
			}
		}
	}
	return false
}

// usesOf returns the Secrets and ConfigMaps that the pods of an object cannot start without, with
// the keys that they need.
func usesOf(o manifests.Object) map[used][]string {
	out := map[used][]string{}
	add := func(kind string, of any, nameField string, members ...string) {
		ref, _ := of.(map[string]any)
		name, _ := ref[nameField].(string)
		if isOptional, _ := ref["optional"].(bool); name == "" || isOptional {
			return
		}
		out[used{kind, name}] = append(out[used{kind, name}], members...)
	}
	spec := member(member(member(o, "spec"), "template"), "spec")
	for _, volume := range entries(spec["volumes"]) {
		add("Secret", volume["secret"], "secretName", itemKeys(volume["secret"])...)
		add("ConfigMap", volume["configMap"], "name", itemKeys(volume["configMap"])...)
	}
	for _, c := range append(entries(spec["containers"]), entries(spec["initContainers"])...) {
		for _, from := range entries(c["envFrom"]) {
			add("Secret", from["secretRef"], "name")
			add("ConfigMap", from["configMapRef"], "name")
		}
		for _, env := range entries(c["env"]) {
			from := member(env, "valueFrom")
			if key, isText := member(from, "secretKeyRef")["key"].(string); isText {
				add("Secret", from["secretKeyRef"], "name", key)
			}
			if key, isText := member(from, "configMapKeyRef")["key"].(string); isText {
				add("ConfigMap", from["configMapKeyRef"], "name", key)
			}
		}
	}
	return out
}

// itemKeys returns the keys that a volume chooses.
func itemKeys(volume any) []string {
	of, _ := volume.(map[string]any)
	var out []string
	for _, item := range entries(of["items"]) {
		if key, isText := item["key"].(string); isText {
			out = append(out, key)
		}
	}
	return out
}

// member returns an object in an object, nil if it is none.
func member(of map[string]any, name string) map[string]any {
	out, _ := of[name].(map[string]any)
	return out
}

// entries returns the objects of a list.
func entries(v any) []map[string]any {
	list, _ := v.([]any)
	var out []map[string]any
	for _, of := range list {
		if object, isObject := of.(map[string]any); isObject {
			out = append(out, object)
		}
	}
	return out
}
