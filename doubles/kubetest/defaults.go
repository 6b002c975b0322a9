package kubetest

import "strings"

// setDefaults sets what a real server sets in an object of a kind where a client says nothing.
func setDefaults(kind string, body map[string]any) {
	spec, _ := body["spec"].(map[string]any)
	if spec == nil {
		spec = map[string]any{}
	}
	switch kind {
	case "Deployment":
		ifNone(spec, "replicas", int64(1), "revisionHistoryLimit", int64(10), "progressDeadlineSeconds", int64(600))
		strategy := dig(spec, "strategy")
		ifNone(strategy, "type", "RollingUpdate")
		if strategy["type"] == "RollingUpdate" {
			ifNone(dig(strategy, "rollingUpdate"), "maxSurge", "25%", "maxUnavailable", "25%")
		}
		templateDefaults(spec)
	case "ReplicaSet":
		ifNone(spec, "replicas", int64(1))
		templateDefaults(spec)
	case "StatefulSet":
		statefulSetDefaults(spec)
	case "CronJob":
		ifNone(spec, "concurrencyPolicy", "Allow", "suspend", false, "successfulJobsHistoryLimit", int64(3),
			"failedJobsHistoryLimit", int64(1))
		templateDefaults(dig(dig(spec, "jobTemplate"), "spec"))
	case "Job":
		ifNone(spec, "parallelism", int64(1), "completions", int64(1), "backoffLimit", int64(6), "completionMode",
			"NonIndexed", "suspend", false, "podReplacementPolicy", "TerminatingOrFailed")
		templateDefaults(spec)
	case "Pod":
		podDefaults(spec)
		ifNone(spec, "enableServiceLinks", true)
	case "PersistentVolumeClaim":
		ifNone(spec, "volumeMode", "Filesystem")
		ifNone(dig(body, "status"), "phase", "Pending")
	case "Service":
		serviceDefaults(spec)
	case "Secret":
		ifNone(body, "type", "Opaque")
	}
}

// ifNone sets fields that are not there, given as names and values.
func ifNone(m map[string]any, pairs ...any) {
	for i := 0; i < len(pairs); i += 2 {
		if name := pairs[i].(string); m[name] == nil { // names are constants
			m[name] = pairs[i+1]
		}
	}
}

func statefulSetDefaults(spec map[string]any) {
	ifNone(spec, "replicas", int64(1), "revisionHistoryLimit", int64(10), "podManagementPolicy", "OrderedReady")
	ifNone(dig(spec, "persistentVolumeClaimRetentionPolicy"), "whenDeleted", "Retain", "whenScaled", "Retain")
	update := dig(spec, "updateStrategy")
	ifNone(update, "type", "RollingUpdate")
	if update["type"] == "RollingUpdate" {
		ifNone(dig(update, "rollingUpdate"), "partition", int64(0), "maxUnavailable", int64(1))
	}
	templateDefaults(spec)
	for _, c := range listOf(spec["volumeClaimTemplates"]) {
		if claim, ok := c.(map[string]any); ok {
			ifNone(claim, "apiVersion", "v1", "kind", "PersistentVolumeClaim")
			setDefaults("PersistentVolumeClaim", claim)
		}
	}
}

func serviceDefaults(spec map[string]any) {
	ifNone(spec, "type", "ClusterIP", "sessionAffinity", "None", "internalTrafficPolicy", "Cluster")
	if spec["type"] != "ExternalName" {
		ifNone(spec, "ipFamilies", []any{"IPv4"}, "ipFamilyPolicy", "SingleStack")
	}
	for _, p := range listOf(spec["ports"]) {
		if port, ok := p.(map[string]any); ok {
			ifNone(port, "protocol", "TCP", "targetPort", port["port"])
			if port["targetPort"] == int64(0) {
				port["targetPort"] = port["port"]
			}
		}
	}
}

func templateDefaults(spec map[string]any) { podDefaults(dig(dig(spec, "template"), "spec")) }

func podDefaults(spec map[string]any) {
	ifNone(spec, "restartPolicy", "Always", "dnsPolicy", "ClusterFirst", "schedulerName", "default-scheduler",
		"terminationGracePeriodSeconds", int64(30), "securityContext", map[string]any{})
	ifNone(spec, "serviceAccountName", spec["serviceAccount"])
	spec["serviceAccount"] = spec["serviceAccountName"] // its old name
	if spec["serviceAccount"] == nil {
		delete(spec, "serviceAccount")
		delete(spec, "serviceAccountName")
	}
	for _, list := range []string{"initContainers", "containers"} {
		for _, c := range listOf(spec[list]) {
			if container, ok := c.(map[string]any); ok {
				containerDefaults(container)
			}
		}
	}
	for _, v := range listOf(spec["volumes"]) {
		if volume, ok := v.(map[string]any); ok {
			volumeDefaults(volume)
		}
	}
}

func containerDefaults(c map[string]any) {
	policy := "IfNotPresent"
	image := textOf(c["image"])
	if _, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":"); !strings.Contains(image, "@") &&
		(tag == "" || tag == "latest") {
		policy = "Always"
	}
	ifNone(c, "imagePullPolicy", policy, "terminationMessagePath", "/dev/termination-log", "terminationMessagePolicy",
		"File", "resources", map[string]any{})
	for _, p := range listOf(c["ports"]) {
		if port, ok := p.(map[string]any); ok {
			ifNone(port, "protocol", "TCP")
		}
	}
	for _, e := range listOf(c["env"]) {
		if entry, ok := e.(map[string]any); ok {
			fieldRefDefaults(entry["valueFrom"])
		}
	}
	for _, name := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		if probe, ok := c[name].(map[string]any); ok {
			ifNone(probe, "timeoutSeconds", int64(1), "periodSeconds", int64(10), "successThreshold", int64(1),
				"failureThreshold", int64(3))
			if get, ok := probe["httpGet"].(map[string]any); ok {
				ifNone(get, "path", "/", "scheme", "HTTP")
			}
		}
	}
}

func fieldRefDefaults(from any) {
	source, _ := from.(map[string]any)
	if ref, ok := source["fieldRef"].(map[string]any); ok {
		ifNone(ref, "apiVersion", "v1")
	}
}

func volumeDefaults(v map[string]any) {
	if len(v) == 1 {
		v["emptyDir"] = map[string]any{}
	}
	for _, name := range []string{"secret", "configMap", "downwardAPI", "projected"} {
		if source, ok := v[name].(map[string]any); ok {
			ifNone(source, "defaultMode", int64(420))
		}
	}
	if path, ok := v["hostPath"].(map[string]any); ok {
		ifNone(path, "type", "")
	}
	projected, _ := v["projected"].(map[string]any)
	for _, s := range listOf(projected["sources"]) {
		source, _ := s.(map[string]any)
		if token, ok := source["serviceAccountToken"].(map[string]any); ok {
			ifNone(token, "expirationSeconds", int64(3600))
		}
	}
}
