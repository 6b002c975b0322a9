package cloud

import (
	"embed"
	"io/fs"
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
