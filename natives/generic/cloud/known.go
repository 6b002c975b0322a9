package cloud

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/integration"
)

// The fields of the query type that [Reader.Read] asks for.
const (
	apisField      = "cloud_apis_v1"
	resourcesField = "cloud_resources_v1"
)

// Paths returns the datafiles of all resources.
func Paths(ctx context.Context, query integration.QueryFunc) ([]string, error) {
	rows, err := ask[pathRow](ctx, query, "{ list: "+resourcesField+" { path } }",
		"the files of resources ("+resourcesField+")")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range rows {
		out = append(out, r.entry.Path)
	}
	return out, nil
}

// IsKnown reports whether data know resources of APIs at all. Data from before the first import
// do not: a query for them is an error.
func IsKnown(ctx context.Context, query integration.QueryFunc) (bool, error) {
	raw, err := query(ctx, "{ __schema { queryType { fields { name } } } }", nil)
	if err != nil {
		return false, fmt.Errorf("asking which lists the data have: %w", err)
	}
	var answer struct {
		Schema struct {
			QueryType struct {
				Fields []struct{ Name string }
			}
		} `json:"__schema"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return false, fmt.Errorf("reading which lists the data have: %w", err)
	}
	var names []string
	for _, f := range answer.Schema.QueryType.Fields {
		names = append(names, f.Name)
	}
	return slices.Contains(names, apisField) && slices.Contains(names, resourcesField), nil
}
