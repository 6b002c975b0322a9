package integration_test

import (
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/qontract/bundle"
)

func TestNarrowedYAML(t *testing.T) {
	b, err := bundle.Parse([]byte(`{"data":{"/i.yml":{"$file_sha256sum":"0","$schema":"/app-sre/integration-1.yml",
		"__identifier":"1","description":"yes\nno","labels":{},"managed":[{"__identifier":"2","n":1.50,"none":null}],"name":"users",
		"pr_check":{"always_run":true,"cmd":"on"},
		"schemas":["/b.yml","/app-sre/integration-1.yml","/a.yml","/app-interface/app-interface-settings-1.yml"]}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := integration.List(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := list[0].NarrowedYAML([]bundle.SchemaPath{"/a.yml", "/not-allowed.yml"})
	const want = `---
$schema: /app-sre/integration-1.yml
description: |-
  yes
  no
labels: {}
managed:
  - "n": 1.50
    none: null
name: users
pr_check:
  always_run: true
  cmd: "on"
schemas:
  - /app-sre/integration-1.yml
  - /a.yml
  - /app-interface/app-interface-settings-1.yml
`
	if err != nil || string(raw) != want {
		t.Errorf("got %s, %v, want %s", raw, err, want)
	}
	var v any
	if err := yaml.Unmarshal(raw, &v); err != nil {
		t.Error(err)
	}
}
