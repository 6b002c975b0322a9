package change

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
)

// fullHash matches the full hash of a commit.
var fullHash = lazyregexp.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// others are the changes between an earlier base and base. Nothing is known of them if base is no
// revision or if the clone lacks the earlier commit: nothing is fetched for a sentence of a report.
type others struct {
	ctx     context.Context //nolint:containedctx // of the one plan that asks
	at      settings.Checkout
	earlier string // the hash of a commit
	base    string // a reference
}

// Files lists the datafiles that differ, by their names, sorted.
func (o others) Files() []bundle.Path {
	_, dir, ok := source.ParseRevision(o.base)
	if !ok || !fullHash.MatchString(o.earlier) {
		return nil
	}
	found, err := source.Compare(o.ctx, "git:"+o.earlier+"@"+dir, o.base, "")
	if err != nil || found == nil {
		return nil
	}
	var out []bundle.Path
	for _, name := range found.Changed {
		if below, ok := strings.CutPrefix(name, path.Clean(o.at.Data)+"/"); ok {
			out = append(out, bundle.Path("/"+below))
		}
	}
	slices.Sort(out)
	return out
}

// Commit returns the commit that last changed a datafile up to base, in short.
func (o others) Commit(file bundle.Path) string {
	base, err := source.OpenRevision(o.ctx, o.base)
	if err != nil {
		return ""
	}
	repo, err := git.FindRepository(o.ctx, base.Dir())
	if err != nil {
		return ""
	}
	commit, err := repo.LastCommit(o.ctx, o.earlier, base.Hash(), path.Join(o.at.Data, string(file)))
	if err != nil || commit == "" {
		return ""
	}
	return git.Short(commit)
}
