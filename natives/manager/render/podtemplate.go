package render

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/natives/template"
)

// A PodTemplate is a template of pods that an installation brings: YAML with metadata (labels
// and annotations) and the spec of a pod, in which ${NAME} stands for a value. It must have a
// container named int, which gets extraEnv and the resources of the integration.
//
// The names are those of [Parameters], and those of one process:
//
//	INTEGRATION_NAME, INTEGRATION_EXTRA_ARGS, COMMAND_NAME, RUN_ONCE (only of a CronJob),
//	SHARDS, SHARD_ID, SHARD_KEY, IMAGE_REFERENCE, SLEEP_DURATION_SECS (of the integration),
//	CPU_REQUEST, MEMORY_REQUEST, CPU_LIMIT, MEMORY_LIMIT, and these with FLUENTD_ before them
//
// Any other name is a mistake, so variables of a shell are written without braces: $HOME. A
// variable, or a quantity, that is one reference and whose value is empty is left out.
type PodTemplate struct {
	name string
	root fields // metadata and spec, checked
}

// processNames are the names that have a value for each process.
var processNames = []string{
	"INTEGRATION_NAME", "INTEGRATION_EXTRA_ARGS", "COMMAND_NAME", "RUN_ONCE",
	"SHARDS", "SHARD_ID", "SHARD_KEY", "IMAGE_REFERENCE", "GOV_SLACK", "SLACK_RECONCILE_ERR_CHANNEL_NAME",
	"CPU_LIMIT", "MEMORY_LIMIT", "CPU_REQUEST", "MEMORY_REQUEST",
	"FLUENTD_CPU_LIMIT", "FLUENTD_MEMORY_LIMIT", "FLUENTD_CPU_REQUEST", "FLUENTD_MEMORY_REQUEST",
}

// maxMistakes limits how many mistakes of one file are told.
const maxMistakes = 10

// ParsePodTemplate reads a template of pods. Errors name the file and the line.
func ParsePodTemplate(name string, text []byte) (*PodTemplate, error) {
	doc, err := template.ReadDocument(name, text)
	if err != nil {
		return nil, err
	}
	value, err := doc.Value()
	if err != nil {
		return nil, err
	}
	c := podChecker{doc: doc}
	root := c.mapAt(value)
	c.checkNames()
	c.checkTop(root)
	if n := len(c.mistakes); n > maxMistakes {
		c.mistakes = append(c.mistakes[:maxMistakes], fmt.Errorf("%s: and %d mistakes more", name, n-maxMistakes))
	}
	if err := errors.Join(c.mistakes...); err != nil {
		return nil, err
	}
	return &PodTemplate{name: name, root: root}, nil
}

// A podChecker checks a template of pods and gathers its mistakes. It checks what rendering
// needs; the server checks the rest.
type podChecker struct {
	doc      *template.Document
	mistakes []error
}

func (c *podChecker) mistake(path []any, format string, args ...any) {
	c.mistakes = append(c.mistakes, c.doc.Errorf(path, format, args...))
}

// checkNames checks that every name that the template refers to is known.
func (c *podChecker) checkNames() {
	known := slices.Clone(processNames)
	for _, p := range Parameters() {
		known = append(known, p.Name)
	}
	for _, m := range c.doc.Mentions() {
		if !slices.Contains(known, m.Name) {
			c.mistakes = append(c.mistakes,
				fmt.Errorf("%s: line %d: the name ${%.80s} is not known; write variables of a shell without braces", c.doc.Name,
					m.Line, m.Name))
		}
	}
}

func (c *podChecker) checkTop(root fields) {
	c.checkKeys(root, nil, "metadata", "spec")
	metadata := c.mapAt(root["metadata"], "metadata")
	c.checkKeys(metadata, []any{"metadata"}, "labels", "annotations")
	for _, key := range []string{"labels", "annotations"} {
		of := c.mapAt(metadata[key], "metadata", key)
		for _, name := range sortedKeys(of) {
			if _, ok := of[name].(string); !ok {
				c.mistake([]any{"metadata", key, name}, "the value of %.80s must be a text", name)
			}
		}
	}
	spec := c.mapAt(root["spec"], "spec")
	if _, isSet := spec["restartPolicy"]; isSet {
		c.mistake([]any{"spec", "restartPolicy"},
			"restartPolicy does not belong here; it is a field of the integration's spec")
	}
	names := c.checkContainers(spec, "initContainers")
	work := c.checkContainers(spec, "containers")
	if len(work) == 0 {
		c.mistake([]any{"spec", "containers"}, "a pod needs containers")
	} else if !slices.Contains(work, "int") {
		c.mistake([]any{"spec", "containers"}, "no container has the name int; it is the one that runs the integration")
	}
	names = append(names, work...)
	slices.Sort(names)
	if len(slices.Compact(slices.Clone(names))) < len(names) {
		c.mistake([]any{"spec"}, "two containers have one name: %.200s", strings.Join(names, ", "))
	}
}

// checkContainers checks a list of containers and returns their names.
func (c *podChecker) checkContainers(spec fields, key string) []string {
	var names []string
	for i, value := range c.listAt(spec[key], "spec", key) {
		path := []any{"spec", key, i}
		container := c.mapAt(value, path...)
		name := textOf(container["name"])
		if name == "" || textOf(container["image"]) == "" {
			c.mistake(path, "a container needs a name and an image, both texts")
		}
		names = append(names, name)
		c.checkVariables(container["env"], append(path, "env"))
		resources := c.mapAt(container["resources"], append(path, "resources")...)
		for _, group := range []string{"limits", "requests"} {
			c.mapAt(resources[group], append(path, "resources", group)...)
		}
		c.listAt(container["volumeMounts"], append(path, "volumeMounts")...)
	}
	return names
}

func (c *podChecker) checkVariables(value any, path []any) {
	seen := map[string]bool{}
	for i, value := range c.listAt(value, path...) {
		at := append(slices.Clone(path), i)
		v := c.mapAt(value, at...)
		name := textOf(v["name"])
		if name == "" {
			c.mistake(at, "a variable needs a name")
		}
		if name != "" && seen[name] {
			c.mistake(at, "the variable %.80s is here twice", name)
		}
		seen[name] = true
		if text, isSet := v["value"]; isSet && text != nil && text != "" && textOf(text) == "" {
			c.mistake(append(at, "value"), "the value of the variable %.80s must be a text; put it in quotes", name)
		}
	}
}

// checkKeys checks that a map has no other keys than those.
func (c *podChecker) checkKeys(of fields, path []any, keys ...string) {
	for _, key := range sortedKeys(of) {
		if !slices.Contains(keys, key) {
			c.mistake(append(slices.Clone(path), key), "the key %.80q is not one of %s", key, strings.Join(keys, ", "))
		}
	}
}

// mapAt returns a value that must be a map; null is an empty map.
func (c *podChecker) mapAt(value any, path ...any) fields {
	of, ok := value.(fields)
	if !ok && value != nil {
		c.mistake(path, "%s must be a map", stepName(path))
	}
	return of
}

// listAt returns a value that must be a list; null is an empty list.
func (c *podChecker) listAt(value any, path ...any) list {
	of, ok := value.(list)
	if !ok && value != nil {
		c.mistake(path, "%s must be a list", stepName(path))
	}
	return of
}

// stepName returns how messages name a place.
func stepName(path []any) string {
	if len(path) == 0 {
		return "a template of pods"
	}
	if key, ok := path[len(path)-1].(string); ok {
		return key
	}
	return "an entry"
}
