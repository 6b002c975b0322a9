package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Parts of templates of OpenShift in which a parameter stands.
type part struct {
	name string
	put  func(objects []any, use string) []any
}

// container returns the container of the Deployment of a template.
func container(objects []any) object {
	spec := objects[0].(object)["spec"].(object)["template"].(object)["spec"].(object)
	return spec["containers"].([]any)[0].(object)
}

// metadata returns the metadata of an object of a template.
func metadata(objects []any, i int) object { return objects[i].(object)["metadata"].(object) }

// plainObjects returns the objects of a template without secrets.
func plainObjects() []any {
	return []any{
		object{"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": object{"name": "shop", "labels": object{"app": "shop"}},
			"spec": object{"replicas": "${{REPLICAS}}", "selector": object{"matchLabels": object{"app": "shop"}},
				"template": object{"metadata": object{"labels": object{"app": "shop"}},
					"spec": object{"containers": []any{object{"name": "shop", "image": "quay.io/acme/shop:${IMAGE_TAG}",
						"env": []any{object{"name": "LOG_LEVEL", "value": "${LOG_LEVEL}"}}}}}}}},
		object{"apiVersion": "v1", "kind": "Service", "metadata": object{"name": "shop"},
			"spec": object{"selector": object{"app": "shop"}, "ports": []any{object{"name": "http", "port": 80}}}},
		object{"apiVersion": "v1", "kind": "Secret", "metadata": object{"name": "shop"},
			"stringData": object{"config": "plain"}},
	}
}

// parts are the places in which a template uses a secret. use is the reference, such as ${PW}.
var parts = []part{
	{"the value of a variable", func(o []any, use string) []any {
		c := container(o)
		c["env"] = append(c["env"].([]any), object{"name": "PW", "value": use})
		return o
	}},
	{"a Secret", func(o []any, use string) []any {
		o[2].(object)["stringData"] = object{"config": "password: " + use}
		return o
	}},
	{"a key of a Secret", func(o []any, use string) []any { o[2].(object)["stringData"] = object{use: "x"}; return o }},
	{"data of a Secret", func(o []any, use string) []any { o[2].(object)["data"] = object{"raw": use}; return o }},
	{"a label", func(o []any, use string) []any { metadata(o, 1)["labels"] = object{"x": use}; return o }},
	{"an annotation", func(o []any, use string) []any { metadata(o, 1)["annotations"] = object{"x": use}; return o }},
	{"an owner", func(o []any, use string) []any {
		metadata(o, 1)["annotations"] = object{"qontract.integration": use}
		return o
	}},
	{"a name", func(o []any, use string) []any { metadata(o, 1)["name"] = "shop-" + use; return o }},
	{"a whole name", func(o []any, use string) []any { metadata(o, 1)["name"] = use; return o }},
	{"a namespace", func(o []any, use string) []any { metadata(o, 1)["namespace"] = use; return o }},
	{"a kind", func(o []any, use string) []any { o[1].(object)["kind"] = use; return o }},
	{"a kind and a name", func(o []any, use string) []any {
		o[1].(object)["kind"] = use
		metadata(o, 1)["name"] = use
		return o
	}},
	{"a version", func(o []any, use string) []any { o[1].(object)["apiVersion"] = use; return o }},
	{"a tag", func(o []any, use string) []any { container(o)["image"] = "quay.io/acme/shop:" + use; return o }},
	{"a whole image", func(o []any, use string) []any { container(o)["image"] = use; return o }},
	{"a digest", func(o []any, use string) []any { container(o)["image"] = "quay.io/acme/shop@sha256:" + use; return o }},
	{"a registry", func(o []any, use string) []any { container(o)["image"] = use + "/acme/shop:1"; return o }},
	{"an image of a field that is no image", func(o []any, use string) []any {
		o[1].(object)["spec"].(object)["image"] = use
		return o
	}},
	{"an image in another kind", func(o []any, use string) []any {
		return append(o, object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "images"},
			"data": object{"image": "quay.io/acme/shop:" + use}})
	}},
	{"replicas", func(o []any, use string) []any { o[0].(object)["spec"].(object)["replicas"] = use; return o }},
	{"a port", func(o []any, use string) []any {
		o[1].(object)["spec"].(object)["ports"] = []any{object{"name": "http", "port": use}}
		return o
	}},
	{"a list", func(o []any, use string) []any { container(o)["args"] = use; return o }},
	{"containers", func(o []any, use string) []any {
		o[0].(object)["spec"].(object)["template"].(object)["spec"].(object)["containers"] = use
		return o
	}},
	{"a spec", func(o []any, use string) []any { o[1].(object)["spec"] = use; return o }},
	{"metadata", func(o []any, use string) []any { o[1].(object)["metadata"] = use; return o }},
	{"an object", func(o []any, use string) []any { return append(o, use) }},
	{"a key", func(o []any, use string) []any { metadata(o, 1)["labels"] = object{"x": "1", use: "2"}; return o }},
	{"a key that may be there", func(o []any, use string) []any {
		o[1].(object)["spec"].(object)["selector"] = object{"app": "shop", use: "2"}
		return o
	}},
	{"a name of a container", func(o []any, use string) []any { container(o)["name"] = use; return o }},
	{"a name of a variable", func(o []any, use string) []any {
		container(o)["env"] = []any{object{"name": use, "value": "1"}}
		return o
	}},
	{"a name of a Secret that is used", func(o []any, use string) []any {
		container(o)["envFrom"] = []any{object{"secretRef": object{"name": use}}}
		return o
	}},
}

// openshift returns a template with some parts.
func openshift(parameters []string, uses ...func([]any) []any) string {
	objects := plainObjects()
	for _, use := range uses {
		objects = use(objects)
	}
	list := []any{object{"name": "REPLICAS", "value": "1"}, object{"name": "LOG_LEVEL"},
		object{"name": "IMAGE_TAG", "required": true}}
	for _, name := range parameters {
		list = append(list, object{"name": name})
	}
	raw, err := json.MarshalIndent(object{"apiVersion": "template.openshift.io/v1", "kind": "Template", "parameters": list,
		"objects": objects}, "", " ")
	if err != nil {
		panic(err) // the parts are texts and maps
	}
	return string(raw)
}

// reference returns a reference to a parameter.
func reference(r *rand.Rand, name string) string {
	return fmt.Sprintf(pick(r, "${%s}", "${%s}", "${{%s}}", "x-${%s}", "${%s}${%[1]s}"), name)
}

// lines of charts that use the value PW, one of each for a chart.
var chartLines = []string{
	"  pw: {{ .Values.PW }}", "  pw: {{ .Values.PW }}", "  pw: {{ quote .Values.PW }}", "  pw: \"{{ .Values.PW }}\"",
	"  pw: '{{ .Values.PW }}'", "  pw: |\n    {{ .Values.PW }}",
	"  {{ if .Values.PW }}pw: set{{ end }}", "  {{ if eq .Values.PW \"guess\" }}pw: guessed{{ end }}",
	"  pw: {{ len .Values.PW | quote }}", "  pw: {{ first 1 .Values.PW | quote }}",
	"  {{ range .Values.PW }}x: y{{ end }}", "  pw: {{ index .Values.PW 3 }}", "  {{ .Values.PW }}: x",
	"  pw: {{ upper .Values.PW | quote }}", "  pw: {{ printf \"%d\" .Values.PW | quote }}", "  pw: x # {{ .Values.PW }}",
}

// chartObjects are whole documents of charts that use the value PW.
var chartObjects = []string{
	"{{ if eq .Values.PW \"guess\" }}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: guessed}\n{{ end }}",
	"{{ if gt (len .Values.PW) 8 }}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: long}\n{{ end }}",
	"---\napiVersion: v1\nkind: Service\nmetadata: {name: \"c-{{ len .Values.PW }}\"}",
	"---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: c}\nspec: {template: {spec: {containers: [{name: c, " +
		"image: \"quay.io/acme/shop:{{ len .Values.PW }}\"}]}}}",
	"---\napiVersion: v1\nkind: Service\nmetadata: {name: c}\nspec: {{ .Values.PW }}",
	"---\n{{ .Values.PW }}",
}

// chart returns the files of a chart below a folder. One that computes has an object that depends
// on the value.
func chart(folder string, r *rand.Rand, computes bool) map[string]string {
	lines := []string{"apiVersion: v1", "kind: ConfigMap", "metadata: {name: chart}", "data:", "  plain: x",
		pick(r, chartLines...)}
	if computes {
		lines = append(lines, pick(r, chartObjects...))
	}
	return map[string]string{folder + "/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
		folder + "/templates/a.yaml": strings.Join(lines, "\n") + "\n"}
}
