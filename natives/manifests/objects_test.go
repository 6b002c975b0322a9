package manifests_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/manifests"
)

// options are those of the tests.
var options = manifests.Options{Manager: "prcheck-integrations-manager"}

// parse returns JSON as an object.
func parse(t testing.TB, text string) manifests.Object {
	t.Helper()
	var out manifests.Object
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return out
}

func clone(t testing.TB, o manifests.Object) manifests.Object {
	t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(raw))
}

// manifest returns a manifest of a kind.
func manifest(t testing.TB, of manifests.Kind) manifests.Object {
	t.Helper()
	const pod = `{"metadata": {"labels": {"app": "a"}}, "spec": {
		"containers": [{"name": "int", "image": "quay.io/x:1", "args": ["a", "b"], "ports": [{"name": "http", "containerPort": 9090}],
			"env": [{"name": "X", "value": "1"}, {"name": "REF", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
			"resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "2Gi"}},
			"volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}]}],
		"volumes": [{"name": "tmp", "emptyDir": {}}]}}`
	selector := `"selector": {"matchLabels": {"app": "a"}}`
	switch of {
	case manifests.Deployment:
		return parse(t,
			`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "n", "labels": {"app": "a"}},
			"spec": {"replicas": 1, `+selector+`, "template": `+pod+`}}`)
	case manifests.StatefulSet:
		return parse(t,
			`{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "a", "namespace": "n", "labels": {"app": "a"}},
			"spec": {"replicas": 1, "serviceName": "", `+selector+`, "template": `+pod+`, "volumeClaimTemplates": [{"metadata": {"name": "cache"},
			"spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "gp2", "resources": {"requests": {"storage": "1Gi"}}}}]}}`)
	case manifests.CronJob:
		return parse(t, `{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "a", "namespace": "n"},
			"spec": {"schedule": "1 * * * *", "jobTemplate": {"spec": {"template": `+
			strings.Replace(pod, `"spec": {`, `"spec": {"restartPolicy": "OnFailure", `, 1)+`}}}}`)
	default:
		return parse(t, `{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "namespace": "n"},
			"spec": {"selector": {"app": "a"}, "ports": [{"name": "http", "port": 80, "targetPort": 9090}]}}`)
	}
}

// A managed entry of a live object.
type managed struct {
	Manager     string          `json:"manager"`
	Operation   string          `json:"operation"`
	Subresource string          `json:"subresource,omitempty"`
	Fields      json.RawMessage `json:"fieldsV1"`
}

// lived returns the live object that an apply of a manifest made, with defaults of the server.
func lived(t testing.TB, want manifests.Object) manifests.Object {
	t.Helper()
	digest := manifests.Digest(want)
	o := clone(t, want)
	meta := o["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
	}
	annotations[manifests.DigestAnnotation] = digest
	meta["annotations"] = annotations
	meta["uid"], meta["resourceVersion"], meta["generation"] = "u1", "7", 1
	own(t, o, managed{options.Manager, "Apply", "", fieldsOf(t, o)})
	setDefaults(o)
	return o
}

// setDefaults sets what a server sets where a manifest says nothing.
func setDefaults(o manifests.Object) {
	spec := o["spec"].(map[string]any)
	add := func(to map[string]any, more map[string]any) {
		for k, v := range more {
			if _, has := to[k]; !has {
				to[k] = v
			}
		}
	}
	switch o["kind"] {
	case "Deployment":
		add(spec, map[string]any{"progressDeadlineSeconds": 600, "revisionHistoryLimit": 10,
			"strategy": map[string]any{"type": "RollingUpdate",
				"rollingUpdate": map[string]any{"maxSurge": "25%", "maxUnavailable": "25%"}}})
	case "StatefulSet":
		delete(spec, "serviceName") // an empty text is dropped
		add(spec, map[string]any{"podManagementPolicy": "OrderedReady"})
		claim := spec["volumeClaimTemplates"].([]any)[0].(map[string]any)
		add(claim, map[string]any{"apiVersion": "v1", "kind": "PersistentVolumeClaim",
			"status": map[string]any{"phase": "Pending"}})
		add(claim["spec"].(map[string]any), map[string]any{"volumeMode": "Filesystem"})
	case "Service":
		add(spec, map[string]any{"clusterIP": "10.0.0.1", "clusterIPs": []any{"10.0.0.1"}, "type": "ClusterIP",
			"sessionAffinity": "None"})
		add(spec["ports"].([]any)[0].(map[string]any), map[string]any{"protocol": "TCP"})
		return
	case "CronJob":
		add(spec, map[string]any{"suspend": false, "concurrencyPolicy": "Allow"})
	}
	pod := podOf(o)
	add(pod, map[string]any{"terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
		"schedulerName": "default-scheduler",
		"restartPolicy": "Always", "securityContext": map[string]any{}})
	c := pod["containers"].([]any)[0].(map[string]any)
	add(c, map[string]any{"imagePullPolicy": "IfNotPresent", "terminationMessagePath": "/dev/termination-log"})
	add(c["ports"].([]any)[0].(map[string]any), map[string]any{"protocol": "TCP"})
}

// podOf returns the spec of the pods of an object.
func podOf(o manifests.Object) map[string]any {
	spec := o["spec"].(map[string]any)
	if o["kind"] == "CronJob" {
		spec = spec["jobTemplate"].(map[string]any)["spec"].(map[string]any)
	}
	return spec["template"].(map[string]any)["spec"].(map[string]any)
}

func container(o manifests.Object) map[string]any {
	return podOf(o)["containers"].([]any)[0].(map[string]any)
}

// own adds an entry of managedFields.
func own(t testing.TB, o manifests.Object, m managed) {
	t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	meta := o["metadata"].(map[string]any)
	list, _ := meta["managedFields"].([]any)
	meta["managedFields"] = append(list, parse(t, string(raw)))
}

// lose removes a field from those of our entry of managedFields, as the server does when somebody
// changes it.
func lose(t testing.TB, o manifests.Object, field ...string) {
	t.Helper()
	for _, e := range o["metadata"].(map[string]any)["managedFields"].([]any) {
		entry := e.(map[string]any)
		if entry["manager"] != options.Manager {
			continue
		}
		if !loseIn(entry["fieldsV1"].(map[string]any), field) {
			t.Fatalf("%q is not ours", field)
		}
	}
}

// loseIn removes a field, and what is empty without it. It reports whether it was there.
func loseIn(fields map[string]any, field []string) bool {
	below, has := fields[field[0]].(map[string]any)
	if has && len(field) > 1 {
		has = loseIn(below, field[1:])
	}
	if len(field) == 1 || len(below) == 0 {
		delete(fields, field[0])
	}
	return has
}

// fieldsOf returns the fields of an object as the server writes them: a small second
// implementation, for the lists that occur in the manifests of these tests.
func fieldsOf(t testing.TB, o manifests.Object) json.RawMessage {
	t.Helper()
	top := map[string]any{}
	for k, v := range o {
		if k == "apiVersion" || k == "kind" {
			continue
		}
		if k == "metadata" {
			m := maps.Clone(v.(map[string]any))
			for _, name := range []string{"name", "namespace", "uid", "resourceVersion", "generation", "managedFields"} {
				delete(m, name)
			}
			v = m
		}
		top["f:"+k] = fields(k, v)
	}
	raw, err := json.Marshal(top)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func fields(name string, v any) any {
	out := map[string]any{}
	switch v := v.(type) {
	case map[string]any:
		if name == "selector" || name == "secretKeyRef" {
			return out
		}
		for k, member := range v {
			out["f:"+k] = fields(k, member)
		}
	case []any:
		key := map[string]string{"containers": "name", "env": "name", "volumes": "name", "volumeMounts": "mountPath"}[name]
		for _, item := range v {
			m, isObject := item.(map[string]any)
			var at string
			switch {
			case key != "" && isObject:
				at = fmt.Sprintf(`k:{"%s":"%v"}`, key, m[key])
			case name == "ports" && m["containerPort"] != nil:
				at = fmt.Sprintf(`k:{"containerPort":%v,"protocol":"TCP"}`, m["containerPort"])
			case name == "ports":
				at = fmt.Sprintf(`k:{"port":%v,"protocol":"TCP"}`, m["port"])
			default:
				return out
			}
			below := fields("", m).(map[string]any)
			below["."] = map[string]any{}
			out[at] = below
		}
	}
	return out
}

// read reads a live object.
func read(t testing.TB, o manifests.Object, opts manifests.Options) *manifests.Live {
	t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	is, err := manifests.Read(kindOf(o), raw, opts)
	if err != nil {
		t.Fatal(err)
	}
	return is
}

// kinds are those that the manager of integrations uses.
var kinds = []manifests.Kind{manifests.CronJob, manifests.Deployment, manifests.Service, manifests.StatefulSet}

// kindOf returns the kind of a manifest.
func kindOf(o manifests.Object) manifests.Kind { return manifests.Named(o["kind"].(string)) }
