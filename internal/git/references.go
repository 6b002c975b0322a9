package git

import (
	"context"
	"strings"
)

// maxReferences is how many references [References] returns.
const maxReferences = 200

// References returns the names of branches, of branches of remotes and of tags of the clone that a folder belongs to,
// the newest commits first.
func References(ctx context.Context, dir string) ([]string, error) {
	out, err := run(ctx, dir, "for-each-ref", "--sort=-committerdate", "--count=200", "--format=%(refname:lstrip=2)",
		"refs/heads", "refs/remotes", "refs/tags")
	if err != nil {
		return nil, err
	}
	names := strings.Fields(string(out))
	return names[:min(len(names), maxReferences)], nil
}
