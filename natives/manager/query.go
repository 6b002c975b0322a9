package manager

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
)

// typesQuery asks which fields the types of the data have. Schemas grow: what is not there yet
// cannot be asked for, and what a query asks for in vain fails it as a whole.
const typesQuery = `{
	managed: __type(name: "IntegrationManaged_v1") { fields { name } }
	spec: __type(name: "IntegrationSpec_v1") { fields { name } }
}`

// A dataType is the answer about one type.
type dataType struct {
	Fields []struct {
		Name string `json:"name"`
	} `json:"fields"`
}

// has reports whether a type has a field; t is nil if there is no such type.
func (t *dataType) has(name string) bool {
	if t == nil {
		return false
	}
	for _, f := range t.Fields {
		if f.Name == name {
			return true
		}
	}
	return false
}

// resourceFields is what is asked of the resources of a process.
const resourceFields = " { requests { cpu memory } limits { cpu memory } }"

// overrideFields is what is asked of an override.
const overrideFields = "shard { path name } imageRef disabled resources" + resourceFields

// specFields are the fields of a spec that objects are made of, with what is asked of each.
var specFields = []string{
	"cache", "command", "concurrencyPolicy", "cron", "dashdotdb", "disableUnleash", "enablePushgateway",
	"environmentAware",
	"extraArgs", "extraEnv { name value secretName secretKey }", "failedJobHistoryLimit",
	"fluentdResources" + resourceFields,
	"imageRef", "internalCertificates", "logs { slack googleChat slackErrorFilter govSlack }",
	"resources" + resourceFields,
	"restartPolicy", "shardingStrategy", "sleepDurationSecs", "state", "storage", "storageClassName",
	"successfulJobHistoryLimit", "trigger",
	"unleashConnectionPool",
}

// definitionQuery returns the query for the definitions with what the types have.
func definitionQuery(ctx context.Context, query integration.QueryFunc) (string, error) {
	types, err := integration.Ask[struct {
		Managed *dataType `json:"managed"`
		Spec    *dataType `json:"spec"`
	}](ctx, query, typesQuery, nil)
	if err != nil {
		return "", fmt.Errorf("asking for the fields of definitions: %w", err)
	}
	spec := slices.DeleteFunc(slices.Clone(specFields), func(field string) bool {
		name, _, _ := strings.Cut(field, " ")
		return !types.Spec.has(name)
	})
	more := ""
	if types.Managed.has("delete") {
		more = "delete"
	}
	return `{ integrations: integrations_v1 { path name upstream managed { ` + more + `
		namespace { path name cluster { name } environment { path name parameters } }
		spec { ` + strings.Join(append(spec, "__typename"), " ") + ` }
		sharding {
			strategy
			... on StaticSharding_v1 { shards }
			... on AWSAccountSharding_v1 { shardSpecOverrides { ` + overrideFields + ` } }
			... on OCMOrganizationSharding_v1 { shardSpecOverrides { ` + overrideFields + ` } }
			... on OpenshiftClusterSharding_v1 { shardSpecOverrides { ` + overrideFields + `
				subSharding { strategy ... on StaticSubSharding_v1 { shards } } } }
		} } } }`, nil
}

// clusterQuery asks for the clusters.
const clusterQuery = `{ clusters: clusters_v1 {
	path name serverUrl insecureSkipTLSVerify automationToken { path field version } disable { integrations } jumpHost { __typename } } }`

// settingsQuery asks for the settings of app-interface.
const settingsQuery = `{ settings: app_interface_settings_v1 { hashLength } }`

// resourceQuery asks for a resource by its path.
const resourceQuery = `query($path: String) { resources: resources_v1(path: $path) { path content } }`
