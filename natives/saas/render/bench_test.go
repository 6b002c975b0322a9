package render

import (
	"fmt"
	"strings"
	"testing"
)

// Rendering a template of usual size, with a secret.
func BenchmarkRender(b *testing.B) {
	in := scene{parameters: `{"B": "x${A}"}`, secrets: map[string]string{"A": "pw"}, files: templateOf(20)}.input()
	for b.Loop() {
		if _, err := Render(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}

// Rendering a template of the largest size.
func BenchmarkRenderLarge(b *testing.B) {
	in := scene{secrets: map[string]string{"A": "pw"}, files: templateOf(1990)}.input()
	in.Files = oneFile(templateOf(1990)[""] + "#" + strings.Repeat("x", 1<<20))
	for b.Loop() {
		if _, err := Render(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}

// templateOf returns a template with a number of Pods.
func templateOf(n int) map[string]string {
	var out strings.Builder
	out.WriteString(head + "parameters: [{name: A}, {name: B}]\nobjects:\n")
	for i := range n {
		fmt.Fprintf(&out,
			"- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: p%d\n    labels: {app: shop, part: web}\n  spec:\n    containers:\n    - name: web\n      image: quay.io/shop/web:1\n      env:\n", i)
		for j := range 20 {
			fmt.Fprintf(&out, "      - name: V%d\n        value: ${A} and ${B} and some more text that stays as it is\n", j)
		}
	}
	return map[string]string{"": out.String()}
}
