package source

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/qontract/bundler"
	"github.com/app-sre/prcheck/settings"
)

// IsCheckout reports whether a reference is one to a checkout, of which a bundle is made:
// git:REV[@DIR] or dir:PATH.
func IsCheckout(ref string) bool {
	return strings.HasPrefix(ref, "git:") || strings.HasPrefix(ref, "dir:")
}

// locate finds the parts of the bundle of a checkout, and its key in the cache, which is ""
// for a working tree.
func (o Opener) locate(ctx context.Context, ref string) (bundler.Input, string, error) {
	in, err := o.input(ctx, ref)
	if err != nil {
		return in, "", err
	}
	key, err := bundler.Key(ctx, in)
	if err != nil {
		err = cli.Invalid(fmt.Errorf("reference %q: %w", ref, err))
	}
	return in, key, err
}

// checkout returns the bundle of a checkout, from the cache if it is there and undamaged.
// Problems of the files are errors of the user's making, one line each.
func (o Opener) checkout(ctx context.Context, in bundler.Input, key string) (bundleFile, error) {
	cache := openCache(o.Cache)
	if raw, sum, ok := cache.Bundle(key); ok {
		return bundleFile{raw: raw, sum: sum, key: key}, nil
	}
	raw, err := makeBytes(ctx, in, bundler.Options{Cache: cache})
	if err != nil {
		return bundleFile{}, err
	}
	if !holds(ctx, in, key) {
		key = ""
	}
	return bundleFile{raw: raw, sum: cache.KeepBundle(key, raw), key: key}, nil
}

// holds reports whether the bundle of an input has the files that a key says, after it was
// made.
func holds(ctx context.Context, in bundler.Input, key string) bool {
	if key == "" {
		return false
	}
	ok, err := bundler.Holds(ctx, in, key)
	return ok && err == nil
}

// input finds the parts of the bundle of a checkout. All errors are of the user's making.
func (o Opener) input(ctx context.Context, ref string) (bundler.Input, error) {
	if o.Settings == nil {
		s, err := ReadSettings("")
		if err != nil {
			return bundler.Input{}, err
		}
		o.Settings = s
	}
	tree, in, err := o.openTree(ctx, ref)
	if err == nil {
		err = o.findSections(ctx, ref, tree, &in)
	}
	if err != nil {
		err = cli.Invalid(fmt.Errorf("reference %q: %w", ref, err))
	}
	return in, err
}

// makeBytes makes a bundle and returns its bytes.
func makeBytes(ctx context.Context, in bundler.Input, opts bundler.Options) ([]byte, error) {
	b, err := makeBundle(ctx, in, opts)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	out := bytes.NewBuffer(make([]byte, 0, b.Size()))
	_, err = b.WriteTo(out)
	return out.Bytes(), err
}

// CacheFolder returns the folder of this user's caches, "" when the environment names none.
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

// openTree opens the files of a checkout. The bundle of a working tree carries the commit
// that is checked out, if there is one.
func (o Opener) openTree(ctx context.Context, ref string) (bundler.Tree, bundler.Input, error) {
	if dir, ok := strings.CutPrefix(ref, "dir:"); ok {
		var f bundler.Tree = bundler.Folder(dir)
		if o.Cache != "" {
			f = bundler.OpenWorkTree(ctx, dir, openCache(o.Cache))
		}
		if c, err := git.OpenCommit(ctx, dir, "HEAD"); err == nil {
			return f, bundler.Input{Commit: c.Hash(), Timestamp: c.Time()}, nil
		}
		return f, bundler.Input{}, ctx.Err()
	}
	revision, dir, _ := ParseRevision(ref)
	c, err := git.OpenCommit(ctx, dir, revision)
	if err != nil {
		return nil, bundler.Input{}, err
	}
	return bundler.CommitTree{Commit: c}, bundler.Input{Commit: c.Hash(), Timestamp: c.Time()}, nil
}

// RootOf returns the folder on disk that the files of a checkout's tree stand for.
func RootOf(ref string) string {
	if dir, ok := strings.CutPrefix(ref, "dir:"); ok {
		return withoutLinks(dir)
	}
	_, dir, _ := ParseRevision(ref)
	return git.RootOf(withoutLinks(dir))
}

// withoutLinks returns the absolute name of a folder, without links if it exists.
func withoutLinks(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// findSections fills in where the parts of the bundle are.
func (o Opener) findSections(ctx context.Context, ref string, tree bundler.Tree, in *bundler.Input) (err error) {
	at := o.Settings.Checkout()
	if o.Root == "" {
		o.Root = RootOf(ref)
	}
	in.Data = bundler.TreePart{Tree: tree, Dir: at.Data, Shown: at.Data}
	in.Resources = bundler.TreePart{Tree: tree, Dir: at.Resources, Shown: at.Resources, Optional: true}
	if in.Schemas, err = o.section(tree, at.Schemas); err != nil {
		return err
	}
	if at.FromBundle() {
		in.Schemas, in.GraphQL, err = bundler.SchemasFromFile(ctx, in.Schemas)
		return err
	}
	in.GraphQL, err = o.section(tree, at.GraphQL)
	return err
}

// section returns a part of the bundle. It lies in the checkout, or outside of it on disk. A
// path that leads from the settings into the checkout is one of the checkout: each side has
// its own.
func (o Opener) section(tree bundler.Tree, p string) (bundler.TreePart, error) {
	if !settings.IsOutside(p) {
		return bundler.TreePart{Tree: tree, Dir: p, Shown: p}, nil
	}
	name := filepath.FromSlash(p)
	if !filepath.IsAbs(name) {
		name = filepath.Join(o.Settings.Folder(), name)
	}
	if in, ok := git.PathIn(o.Root, name); ok && o.Root != "" {
		return bundler.TreePart{Tree: tree, Dir: in, Shown: p}, nil
	}
	dir, base := name, "."
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		dir, base = filepath.Dir(name), filepath.Base(name)
	}
	return bundler.TreePart{Tree: bundler.Folder(dir), Dir: base, Shown: p}, nil
}
