package kubetest

import (
	"fmt"
	"strings"
)

// A request is one request of the table that both servers get, in its order.
type request struct{ name, method, path, kind, body string }

const (
	apply  = "application/apply-patch+yaml"
	merges = "application/merge-patch+json"
	steps  = "application/json-patch+json"
	smart  = "application/strategic-merge-patch+json"
	plain  = "application/json"
)

const (
	inF       = "/api/v1/namespaces/f"
	webPath   = "/apis/apps/v1/namespaces/f/deployments/web"
	cachePath = "/apis/apps/v1/namespaces/f/statefulsets/cache"
	cronPath  = "/apis/batch/v1/namespaces/f/cronjobs/cron"
	servePath = "/api/v1/namespaces/f/services/serve"
	strict    = "?fieldManager=m&fieldValidation=Strict"
	other     = "?fieldManager=other&fieldValidation=Strict"
)

// podOf returns a pod's template with an image and more fields of its spec.
func podOf(image, more string) string {
	return `{"metadata": {"labels": {"app": "web", "component": "c"}, "annotations": {"a": "1"}}, "spec": {"serviceAccountName": "sa", ` + more + `
"initContainers": [{"name": "config", "image": "quay.io/x/init:latest", "command": ["sh", "-c", "true"]}],
"containers": [{"name": "int", "image": "` + image + `", "ports": [{"name": "http", "containerPort": 9090}],
"env": [{"name": "A", "value": "1"}, {"name": "B", "value": ""}, {"name": "C", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}, {"name": "D", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
"resources": {"requests": {"cpu": "1000m", "memory": "10Mi"}, "limits": {"cpu": "0.5", "memory": "20Mi"}},
"readinessProbe": {"httpGet": {"port": 9090}}, "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}]}],
"volumes": [{"name": "tmp", "emptyDir": {}}, {"name": "conf", "secret": {"secretName": "s"}}, {"name": "map", "configMap": {"name": "m"}},
{"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "token", "audience": "openshift"}}]}}]}}`
}

// quota is a valid request: 0.5 of a cpu is less than 1000m, which a real server refuses.
func enough(pod string) string { return strings.ReplaceAll(pod, "1000m", "100m") }

func manifest(apiVersion, kind, name, more string) string {
	return fmt.Sprintf(`{"apiVersion": %q, "kind": %q, "metadata": {"name": %q, "namespace": "f"}, %s}`, apiVersion, kind,
		name, more)
}

func webWith(spec, template string) string {
	return manifest("apps/v1", "Deployment", "web",
		`"spec": {"selector": {"matchLabels": {"app": "web"}}, `+spec+` "template": `+template+`}`)
}

func cacheWith(spec, size string) string {
	return manifest("apps/v1", "StatefulSet", "cache",
		`"spec": {"selector": {"matchLabels": {"app": "web"}}, `+spec+` "template": `+enough(podOf("i:1", ""))+`,
"volumeClaimTemplates": [{"metadata": {"name": "cache"}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "gp2", "resources": {"requests": {"storage": "`+size+`"}}}}]}`)
}

func cronWith(spec, pod string) string {
	return manifest("batch/v1", "CronJob", "cron",
		`"spec": {"schedule": "10 * * * *", `+spec+` "jobTemplate": {"spec": {"template": `+pod+`}}}`)
}

// table are the requests. The state after one is that before the next.
func table() []request {
	return append(tableOfObjects(), tableOfOthers()...)
}

// tableOfObjects are the requests of a program that applies objects.
func tableOfObjects() []request {
	web := webWith(`"replicas": 1, "revisionHistoryLimit": 5,`,
		enough(podOf("quay.io/x/y:1@sha256:0123456789012345678901234567890123456789012345678901234567890123", "")))
	return []request{
		{"namespace", "PATCH", inF + strict, apply,
			`{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "f", "labels": {"a": "1"}}}`},
		{"service account", "POST", inF + "/serviceaccounts" + strict, plain,
			manifest("v1", "ServiceAccount", "sa", `"automountServiceAccountToken": false`)},
		{"map", "PATCH", inF + "/configmaps/map" + strict, apply, manifest("v1", "ConfigMap", "map", `"data": {"a": "1"}`)},
		{"secret", "POST", inF + "/secrets" + strict, plain,
			manifest("v1", "Secret", "s", `"stringData": {}, "data": {"k": "YQ=="}`)},
		{"deployment", "PATCH", webPath + strict, apply, web},
		{"deployment again", "PATCH", webPath + strict, apply, web},
		{"deployment tried", "PATCH", webPath + strict + "&dryRun=All", apply,
			webWith(`"replicas": 2,`, enough(podOf("i:2", "")))},
		{"deployment read", "GET", webPath, "", ""},
		{"another image", "PATCH", webPath + strict, apply,
			webWith(`"replicas": 1,`, enough(podOf("i", `"hostNetwork": false,`)))},
		{"scaled by another", "PATCH", webPath + other, merges, `{"spec": {"replicas": 3}}`},
		{"conflict", "PATCH", webPath + strict, apply, webWith(`"replicas": 1,`, enough(podOf("i", "")))},
		{"without replicas", "PATCH", webPath + strict, apply, webWith("", enough(podOf("i", "")))},
		{"variable of another", "PATCH", webPath + other, smart,
			`{"spec": {"template": {"spec": {"containers": [{"name": "int", "env": [{"name": "Z", "value": "9"}]}]}}}}`},
		{"ours beside it", "PATCH", webPath + strict, apply,
			webWith("", strings.Replace(enough(podOf("i", "")), `{"name": "B", "value": ""}, `, "", 1))},
		{"annotation", "PATCH", webPath + other, merges, `{"metadata": {"annotations": {"x": "1"}}}`},
		{"label", "PATCH", webPath + other, steps,
			`[{"op": "add", "path": "/metadata/labels", "value": {"l": "1"}}, {"op": "test", "path": "/spec/replicas", "value": 3}]`},
		{"step that fails", "PATCH", webPath + other, steps, `[{"op": "remove", "path": "/metadata/nothing"}]`},
		{"recreate beside defaults", "PATCH", webPath + strict, apply,
			webWith(`"strategy": {"type": "Recreate"},`, enough(podOf("i", "")))},
		{"recreate", "PATCH", webPath + other, merges, `{"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}}}`},
		{"selector", "PATCH", webPath + strict, apply, strings.ReplaceAll(webWith("", enough(podOf("i", ""))), `"app": "web"`,
			`"app": "x"`)},
		{"selector of others", "PATCH", webPath + strict, apply, strings.Replace(webWith("", enough(podOf("i", ""))),
			`"app": "web"`, `"app": "x"`, 1)},
		{"duplicate variables", "PATCH", webPath + strict, apply, strings.Replace(webWith("", enough(podOf("i", ""))),
			`"name": "B", "value": ""`, `"name": "A", "value": "2"`, 1)},
		{"unknown field applied", "PATCH", webPath + strict, apply, webWith(`"nope": 1,`, enough(podOf("i", "")))},
		{"unknown field merged", "PATCH", webPath + other, merges, `{"spec": {"nope": 1}}`},
		{"wrong type applied", "PATCH", webPath + strict, apply, webWith(`"replicas": "x",`, enough(podOf("i", "")))},
		{"wrong type merged", "PATCH", webPath + other, merges, `{"spec": {"replicas": "x"}}`},
		{"wrong quantity", "PATCH", webPath + strict, apply, strings.Replace(webWith("", enough(podOf("i", ""))), "20Mi",
			"20Mx", 1)},
		{"no image", "PATCH", webPath + strict, apply, strings.Replace(webWith("", enough(podOf("i", ""))), `"image": "i",`,
			"", 1)},
		{"no volume", "PATCH", webPath + strict, apply, strings.Replace(webWith("", enough(podOf("i", ""))),
			`"name": "tmp", "mountPath"`, `"name": "gone", "mountPath"`, 1)},
		{"old version", "PATCH", webPath + strict, merges, `{"metadata": {"resourceVersion": "1"}}`},
		{"managers replaced", "PATCH", webPath + other, merges,
			`{"metadata": {"managedFields": [{"manager": "one", "operation": "Apply", "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]}}`},
		{"managers removed", "PATCH", webPath + other, merges, `{"metadata": {"managedFields": []}}`},
		{"applied after that", "PATCH", webPath + strict, apply, webWith("", enough(podOf("i", "")))},
		{"set", "PATCH", cachePath + strict, apply, cacheWith("", "1Gi")},
		{"set again", "PATCH", cachePath + strict, apply, cacheWith("", "1Gi")},
		{"set scaled", "PATCH", cachePath + strict, apply, cacheWith(`"replicas": 0, "revisionHistoryLimit": 5,`, "1Gi")},
		{"set grown", "PATCH", cachePath + strict, apply, cacheWith("", "2Gi")},
		{"set with a service", "PATCH", cachePath + strict, apply, cacheWith(`"serviceName": "x",`, "1Gi")},
		{"cron", "PATCH", cronPath + strict, apply, cronWith("", enough(podOf("i:1", `"restartPolicy": "OnFailure",`)))},
		{"cron always", "PATCH", cronPath + strict, apply, cronWith("", enough(podOf("i:1", "")))},
		{"cron with limits", "PATCH", cronPath + strict, apply,
			cronWith(`"concurrencyPolicy": "Forbid", "successfulJobsHistoryLimit": 1,`,
				enough(podOf("i:1", `"restartPolicy": "Never",`)))},
		{"cron with a long name", "PATCH", cronPath + strings.Repeat("n", 49) + strict, apply,
			strings.Replace(cronWith("", enough(podOf("i:1", `"restartPolicy": "Never",`))), `"cron"`,
				`"cron`+strings.Repeat("n", 49)+`"`, 1)},
		{"service", "PATCH", servePath + strict, apply,
			manifest("v1", "Service", "serve",
				`"spec": {"selector": {"component": "c"}, "ports": [{"name": "http", "port": 80, "targetPort": 9090}]}`)},
		{"service again", "PATCH", servePath + strict, apply,
			manifest("v1", "Service", "serve",
				`"spec": {"selector": {"component": "c"}, "ports": [{"name": "http", "port": 80}]}`)},
		{"service moved", "PATCH", servePath + other, merges,
			`{"spec": {"clusterIP": "10.0.0.77", "clusterIPs": ["10.0.0.77"]}}`},
		{"posted", "POST", "/apis/apps/v1/namespaces/f/deployments?fieldManager=kubectl-client-side-apply", plain,
			strings.Replace(web, `"name": "web"`, `"name": "posted"`, 1)},
		{"posted again", "POST", "/apis/apps/v1/namespaces/f/deployments?fieldManager=m", plain,
			strings.Replace(web, `"name": "web"`, `"name": "posted"`, 1)},
		{"posted unknown", "POST", "/apis/apps/v1/namespaces/f/deployments" + strict, plain,
			strings.Replace(webWith(`"nope": 1,`, enough(podOf("i", ""))), `"name": "web"`, `"name": "strange"`, 1)},
		{"foreground", "DELETE", webPath, plain, `{"propagationPolicy": "Foreground"}`},
		{"while it goes", "PATCH", webPath + other, merges, `{"metadata": {"annotations": {"y": "1"}}}`},
		{"let go", "PATCH", webPath + other, merges, `{"metadata": {"finalizers": []}}`},
		{"gone", "GET", webPath, "", ""},
		{"orphans", "DELETE", cachePath, plain, `{"propagationPolicy": "Orphan"}`},
		{"tried deletion", "DELETE", cronPath, plain, `{"propagationPolicy": "Background", "dryRun": ["All"]}`},
		{"there after that", "GET", cronPath, "", ""},
		{"old precondition", "DELETE", cronPath, plain, `{"preconditions": {"resourceVersion": "1"}}`},
		{"another object", "DELETE", cronPath, plain, `{"preconditions": {"uid": "00000000-0000-0000-0000-000000000000"}}`},
		{"background", "DELETE", cronPath, plain, `{"propagationPolicy": "Background"}`},
		{"deleted twice", "DELETE", cronPath, plain, `{"propagationPolicy": "Background"}`},
	}
}
