package realkube

// A kind is one kind of objects, with how its bodies are made.
type kind struct {
	name     string // of the test
	typeName string
	kind     string
	folder   string // the path of the collection; %s is the namespace
	body     object // without apiVersion, kind and metadata.name
	// merges is the media type of the patches by which others edit.
	merges string
	// edits is bodies, laid over the desired one, that change what cannot be changed.
	edits []string
}

const (
	strategic = "application/strategic-merge-patch+json"
	merging   = "application/merge-patch+json"
)

// texts is a map of texts with these names.
func texts(names ...string) object {
	out := object{}
	for _, name := range names {
		out[name] = oneOf("", `"1"`, `"2"`, `""`)
	}
	return out
}

var metadata = some{4, object{"labels": some{3, texts("a", "b/c", "d.e")}, "annotations": some{3, texts("x", "y.z/w")}}}

// template is a pod template. Its label app is needed.
func template(restart gen) object {
	return object{
		"metadata": object{"labels": object{"app": fixed(`"web"`), "tier": oneOf("", `"x"`, `"y"`)},
			"annotations": some{2, texts("p", "q")}},
		"spec": object{
			"restartPolicy": restart,
			"containers": keyed{[]string{`{"name":"int","image":"i:1"}`, `{"name":"side","image":"s:1"}`,
				`{"name":"third","image":"t"}`}, container, 1},
			"initContainers": some{2, keyed{[]string{`{"name":"init","image":"n:1"}`}, object{"args": oneOf("", `["a"]`)}, 0}},
			"volumes": some{2, keyed{[]string{`{"name":"tmp"}`, `{"name":"conf"}`},
				object{"emptyDir": oneOf(`{}`, `{"medium":"Memory"}`, `{"sizeLimit":"0.5Gi"}`)}, 0}},
			"tolerations": oneOf("", "", `[{"key":"a","operator":"Exists"}]`,
				`[{"key":"a","operator":"Equal","value":"1","effect":"NoSchedule"},{"key":"b","operator":"Exists"}]`, `[]`),
			"nodeSelector":                  oneOf("", "", `{"disk":"ssd"}`, `{"disk":"hdd","zone":"a"}`),
			"terminationGracePeriodSeconds": oneOf("", "30", "10"),
			"imagePullSecrets":              some{2, keyed{[]string{`{"name":"pull"}`, `{"name":"other"}`}, object{}, 0}},
			"securityContext": oneOf("", "", `{}`, `{"runAsUser":1000}`,
				`{"fsGroup":3,"supplementalGroups":[1,2]}`),
			"topologySpreadConstraints": some{2,
				keyed{[]string{`{"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","maxSkew":1}`,
					`{"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway","maxSkew":2}`},
					object{"labelSelector": oneOf("", `{"matchLabels":{"app":"web"}}`)}, 0}},
		},
	}
}

var container = object{
	"args":            oneOf("", "", `["a","b"]`, `["b","a"]`, `[]`),
	"command":         oneOf("", `["sh"]`),
	"imagePullPolicy": oneOf("", "", `"Always"`, `"IfNotPresent"`),
	"workingDir":      oneOf("", `"/x"`, `""`),
	"env": some{2, keyed{[]string{`{"name":"A"}`, `{"name":"B"}`, `{"name":"C"}`},
		object{"value": oneOf("", `"1"`, `"2"`, `""`)}, 0}},
	"ports": some{2,
		keyed{[]string{`{"containerPort":80}`, `{"containerPort":81,"protocol":"TCP"}`,
			`{"containerPort":53,"protocol":"UDP"}`},
			object{"name": oneOf("", "")}, 0}},
	"resources": some{2, object{
		"limits": some{2, object{"cpu": oneOf("", `"1"`, `"1000m"`, `"0.5"`, `2`),
			"memory": oneOf("", `"1Gi"`, `"1024Mi"`, `"1.5Gi"`)}},
		"requests": some{2, object{"cpu": oneOf("", `"0.1"`, `"100m"`)}},
	}},
	"securityContext": oneOf("", "", `{"capabilities":{"drop":["ALL"]}}`, `{"readOnlyRootFilesystem":false}`),
	"readinessProbe": oneOf("", "", `{"httpGet":{"port":80}}`, `{"httpGet":{"port":80,"path":"/x"},"periodSeconds":5}`,
		`{"exec":{"command":["true"]}}`),
}

var cronJob = object{
	"schedule":                   oneOf(`"1 * * * *"`, `"2 * * * *"`),
	"suspend":                    oneOf("", "true", "false"),
	"concurrencyPolicy":          oneOf("", `"Forbid"`, `"Allow"`),
	"successfulJobsHistoryLimit": oneOf("", "0", "3", "5"),
	"startingDeadlineSeconds":    oneOf("", "10", "20"),
	"timeZone":                   oneOf("", `"Etc/UTC"`),
	"jobTemplate": object{"spec": object{
		"backoffLimit": oneOf("", "6", "0"), "ttlSecondsAfterFinished": oneOf("", "60"),
		"template": template(oneOf(`"Never"`, `"OnFailure"`)),
	}},
}

var database = object{
	"engine": fixed(`"pg"`), "zone": fixed(`"a"`), "tier": fixed(`"t"`),
	"size": oneOf("", "1", "2", "0"), "ratio": oneOf("", "1.5", "2.50"),
	"flags": some{2, object{"x": oneOf("", "true", "false"), "y": oneOf("", "true")}},
	"users": some{3, keyed{[]string{`{"name":"u"}`, `{"name":"v"}`, `{"name":"w"}`},
		object{"role": oneOf("", `"reader"`, `"writer"`)}, 0}},
	"zones":  some{3, subset{`"a"`, `"b"`, `"c"`}},
	"args":   oneOf("", `["a","b"]`, `["b","a"]`, `[]`),
	"window": oneOf("", `{"from":"1","to":"2"}`, `{"from":"1"}`),
	"limit":  oneOf("", `5`, `"50%"`),
	"free":   oneOf("", `{"any":{"thing":[1,{"a":null}]}}`, `{"any":1}`),
}

var kinds = []kind{
	{name: "ConfigMap", typeName: "v1/configmaps", kind: "ConfigMap", folder: "/api/v1/namespaces/%s/configmaps",
		merges: strategic,
		body: object{"metadata": metadata, "data": some{4, texts("a", "b.c", "d")},
			"binaryData": oneOf("", "", `{"z":"aGk="}`), "immutable": oneOf("", "", "", "", "", "false", "true")},
		edits: nil},
	{name: "Service", typeName: "v1/services", kind: "Service", folder: "/api/v1/namespaces/%s/services",
		merges: strategic,
		body: object{"metadata": metadata, "spec": object{
			"type": oneOf("", "", `"ClusterIP"`, `"NodePort"`),
			"ports": keyed{[]string{`{"port":80,"name":"http"}`, `{"port":443,"name":"https","protocol":"TCP"}`,
				`{"port":53,"name":"dns","protocol":"UDP"}`, `{"port":53,"name":"dnst","protocol":"TCP"}`},
				object{"targetPort": oneOf("", "8080", `"web"`), "appProtocol": oneOf("", `"http"`)}, 1},
			"selector":                 oneOf("", `{"app":"web"}`, `{"app":"web","tier":"x"}`, `{"tier":"y"}`),
			"sessionAffinity":          oneOf("", `"None"`, `"ClientIP"`),
			"publishNotReadyAddresses": oneOf("", "true", "false"),
			"internalTrafficPolicy":    oneOf("", `"Cluster"`, `"Local"`),
			"externalIPs":              oneOf("", "", `["1.2.3.4"]`, `["1.2.3.4","5.6.7.8"]`),
		}},
		edits: []string{`{"spec":{"clusterIP":"None","type":"ClusterIP"}}`, `{"spec":{"clusterIP":"10.0.255.250"}}`}},
	{name: "Deployment", typeName: "apps/v1/deployments", kind: "Deployment",
		folder: "/apis/apps/v1/namespaces/%s/deployments", merges: strategic,
		body: object{"metadata": metadata, "spec": object{
			"replicas": oneOf("", "1", "0", "3"), "minReadySeconds": oneOf("", "0", "5"), "paused": oneOf("", "true", "false"),
			"revisionHistoryLimit":    oneOf("", "10", "2"),
			"progressDeadlineSeconds": oneOf("", "600", "300"), "selector": fixed(`{"matchLabels":{"app":"web"}}`),
			"strategy": oneOf("", "", `{"type":"Recreate"}`, `{"type":"RollingUpdate"}`,
				`{"rollingUpdate":{"maxSurge":"25%","maxUnavailable":1}}`, `{"rollingUpdate":{"maxSurge":2}}`),
			"template": template(oneOf("", `"Always"`)),
		}},
		edits: []string{`{"spec":{"selector":{"matchLabels":{"app":"web","tier":"x"}},"template":{"metadata":{"labels":{"app":"web","tier":"x"}}}}}`}},
	{name: "CronJob", typeName: "batch/v1/cronjobs", kind: "CronJob", folder: "/apis/batch/v1/namespaces/%s/cronjobs",
		merges: strategic,
		body:   object{"metadata": metadata, "spec": cronJob}},
	{name: "Job", typeName: "batch/v1/jobs", kind: "Job", folder: "/apis/batch/v1/namespaces/%s/jobs", merges: strategic,
		body: object{"metadata": metadata, "spec": object{
			"parallelism": oneOf("", "1", "2", "0"), "suspend": oneOf("", "false", "true"), "backoffLimit": oneOf("", "6", "2"),
			"activeDeadlineSeconds":   oneOf("", "100", "200"),
			"ttlSecondsAfterFinished": oneOf("", "60", "0"),
			"template": object{"spec": object{"restartPolicy": fixed(`"Never"`),
				"containers": fixed(`[{"name":"int","image":"i:1"}]`)}},
		}},
		edits: []string{`{"spec":{"completions":5}}`, `{"spec":{"completionMode":"Indexed","completions":1}}`,
			`{"spec":{"template":{"spec":{"restartPolicy":"OnFailure"}}}}`}},
	{name: "Role", typeName: "rbac.authorization.k8s.io/v1/roles", kind: "Role",
		folder: "/apis/rbac.authorization.k8s.io/v1/namespaces/%s/roles", merges: strategic,
		body: object{"metadata": metadata,
			"rules": oneOf("", `[]`, `[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]`,
				`[{"apiGroups":["apps",""],"resources":["deployments"],"verbs":["list","get"]},{"apiGroups":[""],"resources":["pods"],"verbs":["*"]}]`)}},
	{name: "RoleBinding", typeName: "rbac.authorization.k8s.io/v1/rolebindings", kind: "RoleBinding",
		folder: "/apis/rbac.authorization.k8s.io/v1/namespaces/%s/rolebindings", merges: strategic,
		body: object{"metadata": metadata,
			"roleRef": fixed(`{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"}`),
			"subjects": oneOf("", `[{"kind":"User","name":"u","apiGroup":"rbac.authorization.k8s.io"}]`,
				`[{"kind":"ServiceAccount","name":"s","namespace":"n"},{"kind":"Group","name":"g"}]`, `[]`)},
		edits: []string{`{"roleRef":{"name":"other"}}`}},
	{name: "Database", typeName: "example.com/v1/databases", kind: "Database",
		folder: "/apis/example.com/v1/namespaces/%s/databases", merges: merging,
		body:  object{"metadata": metadata, "spec": database},
		edits: []string{`{"spec":{"engine":"my"}}`, `{"spec":{"zone":"b"}}`, `{"spec":{"tier":"other"}}`}},
}

// apiVersion returns the group and version of a kind as objects name it.
func (k kind) apiVersion() string { return k.typeName[:lastSlash(k.typeName)] }

func lastSlash(text string) int {
	for i := len(text) - 1; ; i-- {
		if text[i] == '/' {
			return i
		}
	}
}

// definition is the custom resource of the tests, with transition rules.
const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"databases.example.com"},"spec":{
"group":"example.com","names":{"kind":"Database","plural":"databases","singular":"database"},"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
"schema":{"openAPIV3Schema":{"type":"object","properties":{"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
"spec":{"type":"object","required":["engine"],"x-kubernetes-validations":[{"rule":"self.zone == oldSelf.zone","message":"zone cannot be changed"},{"rule":"has(self.tier) == has(oldSelf.tier)","message":"tier cannot come or go"}],
"properties":{
"engine":{"type":"string","x-kubernetes-validations":[{"rule":"self == oldSelf","message":"engine cannot be changed"}]},
"zone":{"type":"string","default":"a"},
"tier":{"type":"string","x-kubernetes-validations":[{"rule":"self == oldSelf"}]},
"size":{"type":"integer","default":1},"ratio":{"type":"number"},
"flags":{"type":"object","additionalProperties":{"type":"boolean"}},
"users":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"role":{"type":"string","default":"reader"}}}},
"zones":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
"args":{"type":"array","items":{"type":"string"}},
"window":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"from":{"type":"string"},"to":{"type":"string"}}},
"limit":{"x-kubernetes-int-or-string":true},
"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}}}]}}`
