package source

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/app-sre/prcheck/bundle/bundler"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
)

// IsCheckout tells whether a reference is one to a checkout: git:REV[@DIR] is a
// revision of the repository in DIR, dir:PATH is the working tree in PATH.
func IsCheckout(ref string) bool {
	return strings.HasPrefix(ref, "git:") || strings.HasPrefix(ref, "dir:")
}

// checkout bundles what the reference names, or remembers it; what was remembered
// and is damaged is made anew. Problems of the files are errors of the input, one
// line each.
func (o Opener) checkout(ctx context.Context, ref string) ([]byte, error) {
	in, err := o.input(ctx, ref)
	if err != nil {
		return nil, err
	}
	cache := cached(o.Cache)
	key, err := bundler.Key(ctx, in)
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("reference %q: %w", ref, err))
	}
	if raw, sum, ok := cache.Bundle(key); ok && fmt.Sprintf("%x", sha256.Sum256(raw)) == sum {
		return raw, nil
	}
	raw, err := written(ctx, in, bundler.Options{Cache: cache})
	if err == nil {
		cache.KeepBundle(key, raw)
	}
	return raw, err
}

// input finds the parts of the bundle that the reference names. All errors are
// of the user's making.
func (o Opener) input(ctx context.Context, ref string) (bundler.Input, error) {
	if o.Settings == nil {
		s, err := Settings("")
		if err != nil {
			return bundler.Input{}, err
		}
		o.Settings = s
	}
	tree, in, err := o.open(ctx, ref)
	if err == nil {
		err = o.sections(ctx, tree, &in)
	}
	if err != nil {
		err = cli.Invalid(fmt.Errorf("reference %q: %w", ref, err))
	}
	return in, err
}

// written makes a bundle and gives its bytes.
func written(ctx context.Context, in bundler.Input, opts bundler.Options) ([]byte, error) {
	b, err := bundled(ctx, in, opts)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	out := bytes.NewBuffer(make([]byte, 0, b.Size()))
	_, err = b.WriteTo(out)
	return out.Bytes(), err
}

// CacheFolder is where caches of this user are, "" when the environment does
// not tell.
func CacheFolder(getenv func(string) string) string {
	if getenv == nil {
		return ""
	}
	if dir := getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "prcheck")
	}
	if dir := getenv("HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, ".cache", "prcheck")
	}
	return ""
}

// open opens the tree of a reference. The bundle of a working tree carries the
// commit that is checked out, if there is one.
func (o Opener) open(ctx context.Context, ref string) (bundler.Tree, bundler.Input, error) {
	if dir, ok := strings.CutPrefix(ref, "dir:"); ok {
		var f bundler.Tree = bundler.Folder(dir)
		if o.Cache != "" {
			f = bundler.OpenWorkTree(ctx, dir)
		}
		if g, err := git.OpenCommit(ctx, dir, "HEAD"); err == nil {
			return f, bundler.Input{Commit: g.Hash(), Timestamp: g.Time()}, nil
		}
		return f, bundler.Input{}, ctx.Err()
	}
	rev, dir := revision(strings.TrimPrefix(ref, "git:"))
	g, err := git.OpenCommit(ctx, dir, rev)
	if err != nil {
		return nil, bundler.Input{}, err
	}
	return bundler.CommitTree{Commit: g}, bundler.Input{Commit: g.Hash(), Timestamp: g.Time()}, nil
}

// revision splits REV@DIR. What git itself writes with an @ is part of REV:
// HEAD@{1}, and @ alone.
func revision(s string) (rev, dir string) {
	i := strings.LastIndex(s, "@")
	if i <= 0 || i == len(s)-1 || s[i+1] == '{' {
		return s, "."
	}
	return s[:i], s[i+1:]
}

// sections finds the parts of the bundle.
func (o Opener) sections(ctx context.Context, tree bundler.Tree, in *bundler.Input) (err error) {
	at := o.Settings.Checkout()
	in.Data = bundler.Section{Tree: tree, Dir: at.Data, Shown: at.Data}
	in.Resources = bundler.Section{Tree: tree, Dir: at.Resources, Shown: at.Resources}
	if in.Schemas, err = o.section(tree, at.Schemas); err != nil {
		return err
	}
	if at.FromBundle() {
		in.Schemas, in.GraphQL, err = bundler.SchemasOf(ctx, in.Schemas)
		return err
	}
	in.GraphQL, err = o.section(tree, at.GraphQL)
	return err
}

// section is a part of the checkout, or outside of it.
func (o Opener) section(tree bundler.Tree, p string) (bundler.Section, error) {
	if !integration.IsOutside(p) {
		return bundler.Section{Tree: tree, Dir: p, Shown: p}, nil
	}
	name := filepath.FromSlash(p)
	if !filepath.IsAbs(name) {
		name = filepath.Join(Folder(o.Settings), name)
	}
	if in, ok := git.PathIn(o.Root, name); ok && o.Root != "" {
		return bundler.Section{Tree: tree, Dir: in, Shown: p}, nil
	}
	dir, base := name, "."
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		dir, base = filepath.Dir(name), filepath.Base(name)
	}
	return bundler.Section{Tree: bundler.Folder(dir), Dir: base, Shown: p}, nil
}

// checkoutName is what a plan calls a reference to a checkout.
func checkoutName(ref string) string {
	if dir, ok := strings.CutPrefix(ref, "dir:"); ok {
		return "dir:" + plainName(dir)
	}
	rev, dir := revision(strings.TrimPrefix(ref, "git:"))
	if dir == "." {
		return "git:" + rev
	}
	return "git:" + rev + "@" + plainName(dir)
}

// plainName is a path without what is before it when it is absolute.
func plainName(name string) string {
	if filepath.IsAbs(name) {
		return path.Base(filepath.ToSlash(name))
	}
	return filepath.ToSlash(filepath.Clean(name))
}
