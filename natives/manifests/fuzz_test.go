package manifests_test

import (
	"encoding/json"
	"testing"

	"github.com/app-sre/prcheck/natives/manifests"
)

// What a cluster answers is foreign: whatever it is, it is compared or refused.
func FuzzRead(f *testing.F) {
	want := map[manifests.Kind]manifests.Object{}
	for _, kind := range kinds {
		want[kind] = manifest(f, kind)
		raw, err := json.Marshal(lived(f, want[kind]))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add(
		[]byte(
			`{"kind":"Service","metadata":{"name":"a","uid":"1","resourceVersion":"1","managedFields":[{"manager":"oc","operation":"Update",
		"fieldsV1":{"f:spec":{"f:ports":{"k:{\"port\":{}}":{},"v:[1]":{},"i:9":{}}}}}]},"spec":{"ports":[{"port":[]},7,null],"selector":[]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for kind, o := range want {
			is, err := manifests.Read(kind, raw, options)
			if err != nil {
				continue
			}
			_, _ = manifests.Diff(o, is, options)
			_, _ = manifests.Applied(is.Kind, o, is, "n", options, mark)
			pods, _ := manifests.PodsOf(is, []json.RawMessage{raw}, []json.RawMessage{raw})
			_ = manifests.HealthOf(is, pods)
		}
	})
}
