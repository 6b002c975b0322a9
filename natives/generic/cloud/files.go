package cloud

import (
	"embed"
	"io/fs"
	"strings"
)

// files are what a repository needs to have APIs and resources among its data.
//
//go:embed data
var files embed.FS

// Files returns what a repository needs to have APIs and resources among its data: JSON schemas
// of the datafiles below schemas, and their GraphQL types, to be added to those of the
// repository, in graphql-schemas/cloud.yml.
func Files() fs.FS {
	sub, err := fs.Sub(files, "data")
	if err != nil {
		panic(err) // the name is a constant
	}
	return sub
}

// A repository without GraphQL types and schemas needs these as well: the type of resources, in which specifications
// are, and the schema of its schemas.
const (
	resourceType = `  {"name": "Resource_v1", "fields": [
    {"name": "path", "type": "string", "isRequired": true},
    {"name": "content", "type": "string", "isRequired": true},
    {"name": "schema", "type": "string"},
    {"name": "sha256sum", "type": "string", "isRequired": true}
  ]},
`
	resourceField = `    {"name": "resources_v1", "type": "Resource_v1", "isList": true, "isRequired": true, "isResource": true},
`
	metaschema = `{
  "$schema": "http://json-schema.org/draft-06/schema",
  "description": "What every schema of datafiles must have.",
  "type": "object",
  "properties": {
    "$schema": {"enum": ["/metaschema-1.json"]},
    "version": {"type": "string"},
    "additionalProperties": {"enum": [false]},
    "properties": {"type": "object", "required": ["$schema"]}
  },
  "required": ["$schema", "version", "additionalProperties", "properties"]
}
`
)

// FirstFiles returns the files that a repository needs in addition to [Files] if it has no GraphQL types yet, by their
// names: its types and the schema of its schemas.
func FirstFiles() (map[string]string, error) {
	raw, err := files.ReadFile("data/graphql-schemas/cloud.yml")
	if err != nil {
		return nil, err
	}
	types := strings.Replace(string(raw), "[\n", "[\n"+resourceType, 1)
	types = strings.Replace(types, `    {"name": "cloud_apis_v1"`, resourceField+`    {"name": "cloud_apis_v1"`, 1)
	return map[string]string{TypesFile: types, "schemas/metaschema-1.json": metaschema}, nil
}

// TypesFile is the file in which a repository has its GraphQL types.
const TypesFile = "graphql-schemas/schema.yml"
