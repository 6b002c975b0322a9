package validator_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/qontract/validator"
)

// TestMistakesInRealCheckout checks that mistakes in copies of a real checkout are found at
// the right lines.
func TestMistakesInRealCheckout(t *testing.T) {
	if testing.Short() {
		t.Skip("a checkout for each mistake is left out of a short run")
	}
	dir := shared.Path(t, "data", "checkout")
	clean := tree{}
	clean.add(t, "data", dir+"/head/data")
	clean.add(t, "resources", dir+"/head/resources")
	clean.add(t, "schemas", dir+"/schemas")
	clean.add(t, "graphql", dir+"/graphql-schemas")
	if got := clean.check(t, validator.Options{Scope: validator.All}); got != nil {
		t.Fatalf("got %q in the real checkout", got)
	}
	base := clean.bundle(t)
	const (
		user      = "data/users/test.yml"
		role      = "data/roles/admin.yml"
		app       = "data/services/rds-example/app.yml"
		namespace = "data/services/rds-example/namespaces/example-rds-01.yml"
		account   = "data/aws/app-int-example-01/account.yml"
		cluster   = "data/clusters/appint-ex-01/cluster.yml"
	)
	for _, m := range []struct {
		name, file, old, text string
		at                    string // the line of the finding
		rule                  validator.Rule
		findings              int
	}{
		{"unknown key", app, "appCode: ''", "appCode: ''\nappCodes: ''", "appCodes: ''", validator.FileInvalid, 1},
		{"missing key", user, "org_username: tuser\n", "", "$schema: /access/user-1.yml", validator.FileInvalid, 1},
		{"missing key further down", app, "  email: owners@example.com\n", "", "- name: Example team", validator.FileInvalid,
			1},
		{"wrong type", cluster, "  storage: 1", "  storage: big", "  storage: big", validator.FileInvalid, 1},
		{"no word of a list", app, "OnBoarded", "OnBorded", "onboardingStatus: OnBorded", validator.FileInvalid, 1},
		{"pattern", account, "providerVersion: 3.22.0", "providerVersion: 3.22", "providerVersion: 3.22",
			validator.FileInvalid, 1},
		{"wrong type in an alternative", namespace, "    enhanced_monitoring: true", "    enhanced_monitoring: please",
			"    enhanced_monitoring: please", validator.FileInvalid, 1},
		{"unknown alternative", namespace, "  - provider: rds\n    identifier: app-int-example-01-rds\n",
			"  - provider: rdss\n    identifier: app-int-example-01-rds\n", "  - provider: rdss", validator.FileInvalid, 1},
		{"reference to nothing", user, "/roles/admin.yml", "/roles/admins.yml", "- $ref: /roles/admins.yml",
			validator.RefGone, 1},
		{"reference to another kind", user, "/roles/admin.yml", "/services/rds-example/app.yml",
			"- $ref: /services/rds-example/app.yml", validator.RefWrongSchema, 1},
		{"reference to another kind in an object", role, "/clusters/appint-ex-01/cluster.yml", "/users/test.yml",
			"    $ref: /users/test.yml", validator.RefWrongSchema, 1},
		{"no resource", namespace, "    defaults: /terraform/rds/free-tier-1.yml\n    output_resource_name: creds\n",
			"    defaults: /terraform/rds/tier-1.yml\n    output_resource_name: creds\n",
			"    defaults: /terraform/rds/tier-1.yml", validator.ResourceGone, 1},
		{"repeated name", account, "name: app-int-example-01\n", "name: app-int-example-02\n", "name: app-int-example-02",
			validator.Duplicate, 2},
		{"unknown $schema", user, "/access/user-1.yml", "/access/user-2.yml", "$schema: /access/user-2.yml",
			validator.FileSchemaGone, 1},
		{"reference in a schema", "schemas/access/user-1.yml", "$ref\": \"/common-1.json#/definitions/labels",
			"$ref\": \"/common-1.json#/definitions/label", `    "$ref": "/common-1.json#/definitions/label"`,
			validator.SchemaBroken, 2},
		{"schema with slashes escaped", "schemas/common-1.json", `"minimum": 90,`, `"minimum": "90",`,
			`      "minimum": "90",`, validator.SchemaBroken, 1},
		{"unknown type", "graphql/schema.yml", "{ name: awsGroup, type: AWSGroup_v1, isRequired: true }",
			"{ name: awsGroup, type: AWSGrup_v1, isRequired: true }",
			"  - { name: awsGroup, type: AWSGrup_v1, isRequired: true }", validator.GraphQLType, 1},
	} {
		t.Run(m.name, func(t *testing.T) {
			edited := clean.edit(t, [3]string{m.file, m.old, m.text})
			got := edited.check(t, validator.Options{Base: base, Scope: validator.Changed})
			line := 0
			for i, text := range strings.Split(edited[m.file], "\n") {
				if text == m.at {
					line = i + 1
					break
				}
			}
			want := fmt.Sprintf("%s:%d:", m.file, line)
			found := 0
			for _, g := range got {
				if strings.HasPrefix(g, want) && strings.Contains(g, ": "+string(m.rule)+": ") {
					found++
				}
			}
			if found == 0 || len(got) != m.findings {
				t.Errorf("got %d findings, %d of them %s at %s\n%s", len(got), found, m.rule, want, strings.Join(got, "\n"))
			}
		})
	}
}
