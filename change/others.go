package change

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/source"
)

// fullHash matches the full hash of a commit.
var fullHash = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// othersFiles returns a function that lists the datafiles that differ between an earlier base and
// base, by their names, sorted. The function returns none if base is no revision or if the clone
// lacks the earlier commit: nothing is fetched for a sentence of a report.
func othersFiles(ctx context.Context, at integration.Checkout, earlier, base string) func() []bundle.Path {
	return func() []bundle.Path {
		_, dir, ok := source.ParseRevision(base)
		if !ok || !fullHash.MatchString(earlier) {
			return nil
		}
		found, err := source.Compare(ctx, "git:"+earlier+"@"+dir, base, "")
		if err != nil || found == nil {
			return nil
		}
		var out []bundle.Path
		for _, name := range found.Changed {
			if below, ok := strings.CutPrefix(name, path.Clean(at.Data)+"/"); ok {
				out = append(out, bundle.Path("/"+below))
			}
		}
		slices.Sort(out)
		return out
	}
}
