package kubetest

import (
	"fmt"
	"maps"
	"slices"
)

// check returns what a real server refuses in an object: in what it says, and in how it differs
// from the object that is there, nil for none. It knows the rules that decide how objects are
// changed, and not all of the others.
func check(kind string, next, live map[string]any) []cause {
	spec, was := mapOf(next["spec"]), mapOf(live["spec"])
	if causes := checkLabels(next); len(causes) > 0 {
		return causes
	}
	switch kind {
	case "Deployment", "ReplicaSet", "StatefulSet":
		causes := append(checkSelector(spec, was), checkPod(mapOf(spec["template"], "spec"), "spec.template.spec",
			listOf(spec["volumeClaimTemplates"])...)...)
		if kind == "StatefulSet" && was != nil {
			return append(causes, checkStateful(spec, was)...)
		}
		return append(causes, checkStrategy(kind, spec)...)
	case "CronJob":
		at := "spec.jobTemplate.spec.template.spec"
		pod := mapOf(spec["jobTemplate"], "spec", "template", "spec")
		causes := checkPod(pod, at)
		if pod["restartPolicy"] == "Always" {
			causes = append(causes,
				cause{at + ".restartPolicy", `Unsupported value: "Always": supported values: "OnFailure", "Never"`})
		}
		return causes
	case "Pod":
		return checkPod(spec, "spec")
	case "Service":
		if was != nil && spec["clusterIP"] != was["clusterIP"] {
			return []cause{{"spec.clusterIPs[0]", fmt.Sprintf("Invalid value: %s: may not change once set",
				encode(spec["clusterIPs"]))}}
		}
	}
	return nil
}

// checkSelector returns what is wrong with the selector of what makes pods.
func checkSelector(spec, was map[string]any) []cause {
	selector := mapOf(spec["selector"])
	if len(selector) == 0 {
		return []cause{{"spec.selector", "Required value"}}
	}
	var causes []cause
	labels := mapOf(spec["template"], "metadata", "labels")
	if !selects(selector, labels) {
		causes = append(causes,
			cause{"spec.template.metadata.labels", fmt.Sprintf("Invalid value: %s: `selector` does not match template `labels`",
				encode(labels))})
	}
	if was != nil && !equal(selector, was["selector"]) {
		causes = append(causes,
			cause{"spec.selector", fmt.Sprintf("Invalid value: %s: field is immutable", encode(selector))})
	}
	return causes
}

// selects reports whether a selector fits to labels. It heeds matchLabels alone.
func selects(selector, labels map[string]any) bool {
	wanted := mapOf(selector["matchLabels"])
	for name, value := range wanted {
		if labels[name] != value {
			return false
		}
	}
	return len(wanted) > 0
}

func checkStrategy(kind string, spec map[string]any) []cause {
	if strategy := mapOf(spec["strategy"]); kind == "Deployment" && strategy["type"] == "Recreate" &&
		strategy["rollingUpdate"] != nil {
		return []cause{{"spec.strategy.rollingUpdate", "Forbidden: may not be specified when strategy `type` is 'Recreate'"}}
	}
	return nil
}

// growable are the fields of a StatefulSet that can change.
var growable = []string{"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
	"persistentVolumeClaimRetentionPolicy", "minReadySeconds"}

func checkStateful(spec, was map[string]any) []cause {
	var causes []cause
	for _, name := range slices.Sorted(maps.Keys(merge(maps.Clone(was), spec))) {
		if name != "selector" && !slices.Contains(growable, name) && !equal(spec[name], was[name]) {
			causes = append(causes,
				cause{"spec." + name, fmt.Sprintf("Invalid value: %s: field is immutable", encode(spec[name]))})
		}
	}
	return causes
}

// checkPod returns what is wrong with the containers of a pod, which can mount claims as well.
func checkPod(spec map[string]any, at string, claims ...any) []cause {
	containers := listOf(spec["containers"])
	if len(containers) == 0 {
		return []cause{{at + ".containers", "Required value"}}
	}
	var causes []cause
	for i, c := range containers {
		container := mapOf(c)
		here := fmt.Sprintf("%s.containers[%d]", at, i)
		if textOf(container["image"]) == "" {
			causes = append(causes, cause{here + ".image", "Required value"})
		}
		for n, m := range listOf(container["volumeMounts"]) {
			if name := textOf(mapOf(m)["name"]); !hasVolume(spec, claims, name) {
				causes = append(causes, cause{fmt.Sprintf("%s.volumeMounts[%d].name", here, n), fmt.Sprintf("Not found: %q", name)})
			}
		}
	}
	return causes
}

func hasVolume(spec map[string]any, claims []any, name string) bool {
	for _, v := range listOf(spec["volumes"]) {
		if mapOf(v)["name"] == name {
			return true
		}
	}
	return slices.ContainsFunc(claims, func(c any) bool {
		return mapOf(c, "metadata")["name"] == name
	})
}

// keepAllocated keeps what the server gave an object and a client does not name.
func keepAllocated(next, live map[string]any) {
	if live["kind"] != "Service" {
		return
	}
	for _, field := range []string{"clusterIP", "clusterIPs"} {
		if spec := dig(next, "spec"); spec[field] == nil {
			spec[field] = dig(live, "spec")[field]
		}
	}
}
