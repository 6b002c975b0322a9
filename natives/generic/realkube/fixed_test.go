package realkube

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// An attempt changes one field of an object of a built-in kind.
type attempt struct {
	at    string // the address of the collection
	typ   string
	body  string
	edits map[string]string // merge patches by the path of the field
}

const pod = `{"containers": [{"name": "c", "image": "i"}]}`

// attempts try the fields that the rules of the family are about, and some beside them.
var attempts = []attempt{
	{"/apis/apps/v1/namespaces/fixed/deployments", "apps/v1/deployments",
		`{"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b", "c": "d"}}, "spec": ` + pod + `}}}`,
		map[string]string{"spec.selector": `{"spec": {"selector": {"matchLabels": {"c": "d"}}}}`,
			"spec.replicas": `{"spec": {"replicas": 3}}`,
			"spec.strategy": `{"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}}}`}},
	{"/apis/apps/v1/namespaces/fixed/daemonsets", "apps/v1/daemonsets",
		`{"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b", "c": "d"}}, "spec": ` + pod + `}}}`,
		map[string]string{"spec.selector": `{"spec": {"selector": {"matchLabels": {"c": "d"}}}}`,
			"spec.minReadySeconds": `{"spec": {"minReadySeconds": 3}}`}},
	{"/apis/apps/v1/namespaces/fixed/statefulsets", "apps/v1/statefulsets",
		`{"spec": {"serviceName": "s", "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b", "c": "d"}}, "spec": ` + pod + `}}}`,
		map[string]string{"spec.selector": `{"spec": {"selector": {"matchLabels": {"c": "d"}}}}`,
			"spec.serviceName":                          `{"spec": {"serviceName": "t"}}`,
			"spec.podManagementPolicy":                  `{"spec": {"podManagementPolicy": "Parallel"}}`,
			"spec.volumeClaimTemplates":                 `{"spec": {"volumeClaimTemplates": [{"metadata": {"name": "v"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]}}`,
			"spec.replicas":                             `{"spec": {"replicas": 3}}`,
			"spec.persistentVolumeClaimRetentionPolicy": `{"spec": {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}}}`, "spec.revisionHistoryLimit": `{"spec": {"revisionHistoryLimit": 3}}`}},
	{"/apis/batch/v1/namespaces/fixed/jobs", "batch/v1/jobs",
		`{"spec": {"completions": 2, "parallelism": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}`,
		map[string]string{"spec.completions": `{"spec": {"completions": 3}}`,
			"spec.completionMode": `{"spec": {"completionMode": "Indexed"}}`, "spec.parallelism": `{"spec": {"parallelism": 2}}`,
			"spec.backoffLimit":            `{"spec": {"backoffLimit": 2}}`,
			"spec.suspend":                 `{"spec": {"suspend": true}}`,
			"spec.ttlSecondsAfterFinished": `{"spec": {"ttlSecondsAfterFinished": 2}}`,
			"spec.activeDeadlineSeconds":   `{"spec": {"activeDeadlineSeconds": 200}}`,
			"spec.managedBy":               `{"spec": {"managedBy": "example.com/x"}}`,
			"spec.podFailurePolicy":        `{"spec": {"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}]}}}`}},
	{"/api/v1/namespaces/fixed/pods", "v1/pods", `{"spec": ` + pod + `}`,
		map[string]string{"spec.containers[].image": `{"spec": {"containers": [{"name": "c", "image": "j"}]}}`,
			"spec.hostNetwork":           `{"spec": {"hostNetwork": true}}`,
			"spec.activeDeadlineSeconds": `{"spec": {"activeDeadlineSeconds": 9}}`}},
	{"/api/v1/namespaces/fixed/persistentvolumeclaims", "v1/persistentvolumeclaims",
		`{"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}`,
		map[string]string{"spec.accessModes": `{"spec": {"accessModes": ["ReadWriteMany"]}}`,
			"spec.selector": `{"spec": {"selector": {"matchLabels": {"a": "b"}}}}`}},
	{"/api/v1/persistentvolumes", "v1/persistentvolumes",
		`{"spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/a"}}}`,
		map[string]string{"spec.hostPath": `{"spec": {"hostPath": {"path": "/b"}}}`,
			"spec.volumeMode":                    `{"spec": {"volumeMode": "Block"}}`,
			"spec.capacity":                      `{"spec": {"capacity": {"storage": "2Gi"}}}`,
			"spec.persistentVolumeReclaimPolicy": `{"spec": {"persistentVolumeReclaimPolicy": "Delete"}}`,
			"spec.mountOptions":                  `{"spec": {"mountOptions": ["ro"]}}`}},
	{"/api/v1/namespaces/fixed/secrets", "v1/secrets", `{"type": "Opaque", "data": {"a": "YQ=="}}`,
		map[string]string{"type": `{"type": "example.com/x"}`, "data": `{"data": {"a": "Yg=="}}`}},
	{"/api/v1/namespaces/fixed/secrets", "v1/secrets", `{"immutable": true, "data": {"a": "YQ=="}}`,
		map[string]string{"data": `{"data": {"a": "Yg=="}}`, "immutable": `{"immutable": false}`,
			"metadata.labels": `{"metadata": {"labels": {"a": "b"}}}`}},
	{"/api/v1/namespaces/fixed/configmaps", "v1/configmaps", `{"immutable": true, "data": {"a": "b"}}`,
		map[string]string{"data": `{"data": {"a": "c"}}`, "binaryData": `{"binaryData": {"b": "Yg=="}}`,
			"immutable": `{"immutable": false}`}},
	{"/api/v1/namespaces/fixed/configmaps", "v1/configmaps", `{"data": {"a": "b"}}`,
		map[string]string{"data": `{"data": {"a": "c"}}`, "immutable": `{"immutable": true}`}},
	{"/api/v1/namespaces/fixed/resourcequotas", "v1/resourcequotas", `{"spec": {"hard": {"pods": "9"}}}`,
		map[string]string{"spec.scopes": `{"spec": {"scopes": ["BestEffort"]}}`,
			"spec.hard": `{"spec": {"hard": {"pods": "8"}}}`}},
	{"/apis/storage.k8s.io/v1/storageclasses", "storage.k8s.io/v1/storageclasses",
		`{"provisioner": "example.com/p", "parameters": {"a": "b"}}`,
		map[string]string{"provisioner": `{"provisioner": "example.com/q"}`, "parameters": `{"parameters": {"a": "c"}}`,
			"reclaimPolicy": `{"reclaimPolicy": "Retain"}`, "volumeBindingMode": `{"volumeBindingMode": "WaitForFirstConsumer"}`,
			"allowVolumeExpansion": `{"allowVolumeExpansion": true}`, "mountOptions": `{"mountOptions": ["ro"]}`,
			"allowedTopologies": `{"allowedTopologies": [{"matchLabelExpressions": [{"key": "k", "values": ["v"]}]}]}`}},
	{"/apis/storage.k8s.io/v1/csidrivers", "storage.k8s.io/v1/csidrivers", `{"spec": {"attachRequired": true}}`,
		map[string]string{"spec.attachRequired": `{"spec": {"attachRequired": false}}`,
			"spec.fsGroupPolicy":        `{"spec": {"fsGroupPolicy": "File"}}`,
			"spec.volumeLifecycleModes": `{"spec": {"volumeLifecycleModes": ["Ephemeral"]}}`,
			"spec.podInfoOnMount":       `{"spec": {"podInfoOnMount": true}}`,
			"spec.storageCapacity":      `{"spec": {"storageCapacity": true}}`}},
	{"/apis/storage.k8s.io/v1/volumeattachments", "storage.k8s.io/v1/volumeattachments",
		`{"spec": {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}}}`,
		map[string]string{"spec.nodeName": `{"spec": {"nodeName": "m"}}`}},
	{"/apis/storage.k8s.io/v1/namespaces/fixed/csistoragecapacities", "storage.k8s.io/v1/csistoragecapacities",
		`{"storageClassName": "a", "nodeTopology": {"matchLabels": {"a": "b"}}, "capacity": "1Gi"}`,
		map[string]string{"storageClassName": `{"storageClassName": "b"}`,
			"nodeTopology": `{"nodeTopology": {"matchLabels": {"a": "c"}}}`, "capacity": `{"capacity": "2Gi"}`}},
	{"/apis/storage.k8s.io/v1/volumeattributesclasses", "storage.k8s.io/v1/volumeattributesclasses",
		`{"driverName": "a.example.com", "parameters": {"a": "b"}}`,
		map[string]string{"driverName": `{"driverName": "b.example.com"}`, "parameters": `{"parameters": {"a": "c"}}`}},
	{"/apis/scheduling.k8s.io/v1/priorityclasses", "scheduling.k8s.io/v1/priorityclasses", `{"value": 5}`,
		map[string]string{"value": `{"value": 6}`, "preemptionPolicy": `{"preemptionPolicy": "Never"}`,
			"description": `{"description": "x"}`, "globalDefault": `{"globalDefault": true}`}},
	{"/apis/networking.k8s.io/v1/ingressclasses", "networking.k8s.io/v1/ingressclasses",
		`{"spec": {"controller": "example.com/a"}}`,
		map[string]string{"spec.controller": `{"spec": {"controller": "example.com/b"}}`}},
	{"/apis/node.k8s.io/v1/runtimeclasses", "node.k8s.io/v1/runtimeclasses", `{"handler": "a"}`,
		map[string]string{"handler": `{"handler": "b"}`, "overhead": `{"overhead": {"podFixed": {"cpu": "1"}}}`}},
	{"/apis/rbac.authorization.k8s.io/v1/namespaces/fixed/rolebindings", "rbac.authorization.k8s.io/v1/rolebindings",
		`{"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}}`,
		map[string]string{"roleRef": `{"roleRef": {"name": "edit"}}`,
			"subjects": `{"subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "x"}]}`}},
	{"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", "rbac.authorization.k8s.io/v1/clusterrolebindings",
		`{"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}}`,
		map[string]string{"roleRef": `{"roleRef": {"name": "edit"}}`}},
	{"/apis/discovery.k8s.io/v1/namespaces/fixed/endpointslices", "discovery.k8s.io/v1/endpointslices",
		`{"addressType": "IPv4", "endpoints": []}`,
		map[string]string{"addressType": `{"addressType": "IPv6"}`, "ports": `{"ports": [{"port": 80, "name": "a"}]}`}},
	{"/apis/apps/v1/namespaces/fixed/controllerrevisions", "apps/v1/controllerrevisions",
		`{"revision": 1, "data": {"a": 1}}`,
		map[string]string{"data": `{"data": {"a": 2}}`}},
	{"/api/v1/namespaces/fixed/services", "v1/services", `{"spec": {"ports": [{"port": 80}], "selector": {"a": "b"}}}`,
		map[string]string{"spec.clusterIP": `{"spec": {"clusterIP": "None"}}`,
			"spec.selector": `{"spec": {"selector": {"a": "c"}}}`, "spec.type": `{"spec": {"type": "NodePort"}}`}},
}

// What the rules of the family say of a field of a built-in kind is what the server does.
func TestFixedFields(t *testing.T) {
	c := start(t, "fixed")
	for i, a := range attempts {
		group := a.typ[:strings.LastIndexByte(a.typ, '/')]
		prefix := "apis"
		if !strings.Contains(group, "/") {
			prefix = "api"
		}
		raw := c.must(t, http.MethodGet, "/openapi/v3/"+prefix+"/"+group, "", "")
		set := openapi.NewSet(func(string, int64) ([]byte, error) { return raw, nil }, openapi.Limits{})
		d, err := set.Document("served.json")
		if err != nil {
			t.Fatal(err)
		}
		found, err := resources.NewIndex([]*openapi.Document{d}).Find(a.typ)
		if err != nil {
			t.Fatal(err)
		}
		of, err := classes.New(found[0])
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for path, patch := range a.edits {
			n++
			name := fmt.Sprintf("f%d-%d", i, n)
			if strings.Contains(a.typ, "csidrivers") {
				name += ".example.com"
			}
			body := strings.Replace(a.body, "{", fmt.Sprintf(`{"metadata": {"name": %q}, `, name), 1)
			c.must(t, http.MethodPost, a.at, "application/json", body)
			code, said := c.Send(t, "admin", http.MethodPatch, a.at+"/"+name, "application/merge-patch+json", patch)
			p, err := of.Explain(path)
			if err != nil {
				t.Fatalf("%s %s: %v", a.typ, path, err)
			}
			isFixed := p.CreateOnly != nil || p.FixedIf != "" && strings.Contains(a.body, `"immutable": true`)
			if isRefused := code == http.StatusUnprocessableEntity || code == http.StatusForbidden; isRefused != isFixed {
				t.Errorf("%s %s: the server answers %d, and the class is %s: %.300s", a.typ, path, code, p.Class(), said)
			}
		}
	}
}
