package manager

import (
	"slices"
	"strings"
	"testing"
)

const podTemplate = `metadata:
  labels: {team: x}
spec:
  containers:
  - name: int
    image: ${IMAGE_REFERENCE}
    env:
    - {name: INTEGRATION_NAME, value: "${INTEGRATION_NAME}"}
`

// A template of the installation makes the pods. One with mistakes leaves everything as it is.
func TestTemplate(t *testing.T) {
	for name, c := range map[string]struct {
		text string // "" is no resource
		want []string
	}{
		"good": {podTemplate, nil},
		"none": {"", []string{"TEMPLATE /manager/pod.yaml: /manager/pod.yaml: there is no such resource*"}},
		"mistakes": {strings.ReplaceAll(strings.ReplaceAll(podTemplate, "INTEGRATION_NAME}", "NAME_OF}"), "IMAGE_REFERENCE",
			"OTHER"),
			[]string{"TEMPLATE /manager/pod.yaml: /manager/pod.yaml: line 6: *OTHER*",
				"TEMPLATE /manager/pod.yaml: /manager/pod.yaml: line 8: *NAME_OF*"}},
		"a loop": {"spec: &a\n  containers: [*a]\n", []string{"TEMPLATE /manager/pod.yaml: /manager/pod.yaml: line 2: *"}},
	} {
		d := example(t)
		if c.text != "" {
			d.Resources["/manager/pod.yaml"] = object{"path": "/manager/pod.yaml", "content": c.text, "sha256sum": "x",
				"$schema": nil}
		}
		got := d.desired(t, "template: /manager/pod.yaml")
		lines := told(got)
		if !slices.EqualFunc(lines, c.want, func(l, want string) bool { return matches(want, l) }) {
			t.Errorf("%s: got %q, want %q", name, lines, c.want)
		}
		p := got.Parts[0]
		if (p.Skip == "") != (c.want == nil) || (len(p.Items) > 0) != (c.want == nil) {
			t.Errorf("%s: got the part %+v", name, p)
		}
		if c.want == nil {
			pod := field(field(item(t, got, imageKey).Body.(body).Object, "spec"), "template")
			if labels := field(field(pod, "metadata"), "labels"); labels["team"] != "x" {
				t.Errorf("got the pod %v", pod)
			}
		}
	}
}
