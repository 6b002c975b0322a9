package render

import (
	"maps"
	"slices"

	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/template"
)

// ownPod returns the pod of a shard by the template of the installation. It reports false after
// a mistake.
func (r *renderer) ownPod(shard Shard) (pod, bool) {
	values := r.processValues(shard)
	filled, err := template.Fill(r.Pod.root, values)
	if err != nil {
		r.mistake("", "%s: %v", r.Pod.name, err)
		return pod{}, false
	}
	root := filled.(fields)
	spec, ok := root["spec"].(fields)
	if !ok {
		r.mistake("", "the template of pods is empty")
		return pod{}, false
	}
	before, _ := r.Pod.root["spec"].(fields)
	for _, group := range []string{"initContainers", "containers"} {
		was, _ := before[group].(list)
		is, _ := spec[group].(list)
		for i := range is {
			dropEmpty(was[i].(fields), is[i].(fields))
			if name := is[i].(fields)["name"]; group == "containers" && name == "int" {
				if !r.setWork(is[i].(fields), shard) {
					return pod{}, false
				}
			}
		}
	}
	metadata, _ := root["metadata"].(fields)
	return pod{metadata: metadata, spec: spec}, true
}

// setWork sets what an integration decides in the container that runs it. It reports false
// after a mistake.
func (r *renderer) setWork(container fields, shard Shard) bool {
	own := fields{"env": r.extraVariables()}
	image := container["image"]
	r.setProcess(own, shard)
	filled, err := template.Fill(own, r.values)
	if err != nil {
		r.mistake("/spec", "its container cannot be made: %v", err)
		return false
	}
	own = filled.(fields)
	env, _ := container["env"].(list)
	extra, _ := own["env"].(list)
	own["env"] = r.withExtra(env, extra, nil)
	if r.Process == nil { // the template says which image, and IMAGE_REFERENCE is the usual one
		own["image"] = image
	}
	maps.Copy(container, own)
	mounts, _ := container["volumeMounts"].(list)
	hasCache := slices.ContainsFunc(mounts, func(m any) bool { of, _ := m.(fields); return of["name"] == "cache" })
	if r.kind == manifests.StatefulSet && !hasCache {
		container["volumeMounts"] = append(mounts, mount("cache", "/.cache"))
	}
	return true
}

// processValues returns the values of all names that a template of pods may use.
func (r *renderer) processValues(shard Shard) map[string]string {
	values := maps.Clone(r.values)
	for _, name := range processNames {
		if _, isParameter := values[name]; !isParameter {
			values[name] = ""
		}
	}
	maps.Copy(values, map[string]string{
		"INTEGRATION_NAME":       r.of.Name,
		"INTEGRATION_EXTRA_ARGS": r.fill(shard.ExtraArgs),
		"COMMAND_NAME":           r.fill(r.of.Spec.Command),
		"SHARDS":                 shard.Shards,
		"SHARD_ID":               shard.ID,
		"SHARD_KEY":              shard.Key,
		"IMAGE_REFERENCE":        cleanImage(r.fill(r.image(shard))),
		"SLEEP_DURATION_SECS":    r.fill(r.sleepDuration()),
	})
	if r.kind == manifests.CronJob {
		values["RUN_ONCE"] = "true"
	}
	work := r.resources(shard)
	for _, q := range allQuantities {
		group, _ := work[q.group].(fields)
		values[q.parameter] = r.fill(textOf(group[q.resource]))
		values["FLUENTD_"+q.parameter] = r.values[parameterPrefix(r.of.Name)+"FLUENTD_"+q.parameter]
	}
	return values
}

// dropEmpty drops variables and quantities of a container that were one reference and are empty
// now.
func dropEmpty(was, is fields) {
	before, _ := was["env"].(list)
	env, _ := is["env"].(list)
	var kept list
	for i, v := range env {
		if old := before[i].(fields)["value"]; !isReference(old) || v.(fields)["value"] != "" {
			kept = append(kept, v)
		}
	}
	if len(kept) < len(env) {
		is["env"] = kept
	}
	old, _ := was["resources"].(fields)
	resources, _ := is["resources"].(fields)
	for _, name := range []string{"limits", "requests"} {
		group, _ := resources[name].(fields)
		oldGroup, _ := old[name].(fields)
		for key := range group {
			if group[key] == "" && isReference(oldGroup[key]) {
				delete(group, key)
			}
		}
	}
}

// isReference reports whether a value is one reference and nothing else.
func isReference(value any) bool {
	text := textOf(value)
	names := template.Names(text)
	return len(names) == 1 && text == "${"+names[0]+"}"
}
