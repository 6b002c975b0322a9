package source

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/internal/objects"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/bundler"
	"github.com/app-sre/prcheck/qontract/live"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/world"
)

// maxObject is the size in bytes up to which a bundle is read from a bucket.
const maxObject = 4 << 30

// ErrLive says that a bundle of a live server cannot be used where tasks run.
var ErrLive = cli.Usage(errors.New("a live server cannot be used here, since tasks are served from whole bundles: " +
	"plan with it, then get the two bundle files and give them with --base and --head; the plan's sha256 holds them to " +
	"be the same"))

// An Opener opens bundles by reference. The zero value remembers nothing.
type Opener struct {
	// Settings say where the parts of a checkout are; nil: as ReadSettings("") has them.
	Settings *settings.Settings
	// Root is the folder of the repository when the settings are those of a revision: a
	// part that they name by a path inside of it is read from each revision. "": it is the
	// folder of the checkout that is opened.
	Root string
	// Cache is the folder that remembers what was bundled; "": nothing is remembered.
	Cache string
	// Authorization is the Authorization header for live servers.
	Authorization string
	// Note is called with each line that a user should know; nil drops the lines.
	Note func(line string)
}

// authorization is the environment variable with the Authorization header for live servers.
const authorization = "PRCHECK_AUTHORIZATION"

// In returns the opener of a user: with the cache and the authorization of the environment,
// and notes on stderr.
func In(env cli.Env) Opener {
	o := Opener{Cache: CacheFolder(env.Getenv), Note: func(line string) { _, _ = fmt.Fprintln(env.Stderr, "note: "+line) }}
	if env.Getenv != nil {
		o.Authorization = env.Getenv(authorization)
	}
	return o
}

// With returns an opener that looks for the parts of a checkout where these settings say.
func (o Opener) With(s OpenedSettings) Opener {
	o.Settings, o.Root = s.Settings, s.Root()
	return o
}

// Bundle opens a bundle. When like is not nil, files with the same bytes are shared with it.
// All errors are of the user's making.
func (o Opener) Bundle(ctx context.Context, ref string, like *bundle.Bundle) (*bundle.Bundle, error) {
	read, err := o.read(ctx, ref)
	if err != nil {
		return nil, err
	}
	return read.parse(ref, like)
}

// Unchecked opens a bundle for validation, which may hold datafiles without $schema. All
// errors are of the user's making.
func (o Opener) Unchecked(ctx context.Context, ref string, like *bundle.Bundle) (*bundle.Bundle, error) {
	raw, err := o.Bytes(ctx, ref)
	if err != nil {
		return nil, err
	}
	b, err := bundle.ParseUnchecked(raw, like)
	return b, unreadable(ref, err)
}

// UncheckedPair opens both bundles of a change for validation; base is nil when its reference
// is "".
func (o Opener) UncheckedPair(ctx context.Context, base, head string) (b, h *bundle.Bundle, err error) {
	if base != "" {
		if b, err = o.Unchecked(ctx, base, nil); err != nil {
			return nil, nil, err
		}
	}
	h, err = o.Unchecked(ctx, head, b)
	return b, h, err
}

// A bundleFile is the bytes of a bundle.
type bundleFile struct {
	raw        []byte
	sum        string         // their sha256, "" when nobody has computed it
	key        string         // under which the cache has the bytes, or ""
	contents   string         // a hash of the files of head; "" when it is not known
	difference []byte         // from base, in place of the bytes; see [bundle.Bundle.Difference]
	indexed    *bundle.Bundle // in place of the bytes; see [bundle.OpenIndexed]
}

// parse makes a bundle of the bytes.
func (f bundleFile) parse(ref string, like *bundle.Bundle) (b *bundle.Bundle, err error) {
	if f.indexed != nil {
		return f.indexed, nil
	}
	if f.sum == "" {
		b, err = bundle.Parse(f.raw, like)
	} else {
		b, err = bundle.ParseWithSHA256(f.raw, f.sum, like)
	}
	return b, unreadable(ref, err)
}

// unreadable says of which bundle an error is.
func unreadable(ref string, err error) error {
	if err == nil {
		return nil
	}
	return cli.Invalid(fmt.Errorf("reading bundle %q: %w%s", ref, err, hint(ref, err)))
}

// hint says how a revision or a folder is written, if a reference looks like one and no file has its name.
func hint(ref string, err error) string {
	info, statErr := os.Stat(ref)
	switch {
	case statErr == nil && info.IsDir():
		return "; for the working tree of a checkout write dir:" + ref
	case errors.Is(err, fs.ErrNotExist) && !strings.HasSuffix(ref, ".json") && !strings.Contains(ref, ":"):
		return fmt.Sprintf("; for a branch, tag or commit of git write git:%s", ref)
	}
	return ""
}

// Bytes returns the bundle file of a reference. It makes the bundle of a checkout.
func (o Opener) Bytes(ctx context.Context, ref string) ([]byte, error) {
	f, err := o.read(ctx, ref)
	return f.raw, err
}

// read returns the bundle file of a reference. It makes the bundle of a checkout.
func (o Opener) read(ctx context.Context, ref string) (f bundleFile, err error) {
	switch {
	case IsCheckout(ref):
		in, key, err := o.locate(ctx, ref)
		if err != nil {
			return f, err
		}
		return o.checkout(ctx, in, key)
	case live.IsRef(ref):
		return f, ErrLive
	}
	f.raw, err = read(ctx, ref)
	return f, unreadable(ref, err)
}

// IsObject reports whether a reference is one to an object in a bucket.
func IsObject(ref string) bool { return strings.HasPrefix(ref, "s3://") }

// read reads a whole file or object.
func read(ctx context.Context, ref string) ([]byte, error) {
	if IsObject(ref) {
		at, err := parseObject(ref)
		if err != nil {
			return nil, err
		}
		return objects.Reader{Limit: maxObject}.Read(ctx, at)
	}
	raw, err := bundle.ReadFile(ref)
	var at *os.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return raw, err
}

func required(base, head string) error {
	for _, side := range []struct{ flag, ref string }{{"base", base}, {"head", head}} {
		if side.ref == "" {
			return cli.Usage(fmt.Errorf("--%s is required: the bundle of that side", side.flag))
		}
	}
	return nil
}

// Name returns what a plan calls a reference: the path as it was given, but of an absolute
// path only its last part, since a plan names nothing of the machine that made it.
func Name(ref string) string {
	server, err := live.ParseRef(ref)
	switch {
	case err == nil:
		return server.String()
	case IsCheckout(ref):
		return checkoutName(ref)
	case IsObject(ref):
		return ref
	case filepath.IsAbs(ref):
		return filepath.Base(ref)
	}
	return filepath.ToSlash(filepath.Clean(ref))
}

// Pair opens both bundles of a change. They share what they have in common.
func (o Opener) Pair(ctx context.Context, base, head string) (*bundle.Bundle, *bundle.Bundle, error) {
	if live.IsRef(base) || live.IsRef(head) {
		both, err := o.Live(ctx, base, head)
		if err != nil {
			return nil, nil, err
		}
		return both.Base, both.Head, nil
	}
	if err := required(base, head); err != nil {
		return nil, nil, err
	}
	// Base is read first: what is remembered of its files then helps to make the bundle of head.
	// Head is read while base is parsed, and parsed afterwards, so that it can share with base.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	baseFile, err := o.readBase(ctx, base)
	if err != nil {
		return nil, nil, ofBase(err)
	}
	var reading sync.WaitGroup
	var headFile bundleFile
	var failed error
	reading.Go(func() { headFile, failed = o.readHead(ctx, head, baseFile) })
	b, err := baseFile.parse(base, nil)
	if err != nil {
		cancel()
	}
	reading.Wait()
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, nil, err
	}
	h, err := o.parseHead(ctx, head, headFile, b, baseFile)
	if err != nil {
		return nil, nil, err
	}
	o.keepIndex(baseFile, b)
	return b, h, nil
}

// readBase is like read, but reads only an index of the bundle if the cache has both.
func (o Opener) readBase(ctx context.Context, ref string) (bundleFile, error) {
	if o.Cache == "" || !IsCheckout(ref) {
		return o.read(ctx, ref)
	}
	in, key, err := o.locate(ctx, ref)
	if err != nil {
		return bundleFile{}, err
	}
	if b, ok := o.indexed(ctx, ref, in, key); ok {
		return bundleFile{key: key, indexed: b}, nil
	}
	return o.checkout(ctx, in, key)
}

// ofBase says that problems of files are those of base, since its files are named like those
// of head.
func ofBase(err error) error {
	if in := (bundler.Problem{}); errors.As(err, &in) {
		return fmt.Errorf("base: %w", err)
	}
	return err
}

// readHead is like read. The files of a working tree are pinned. When the cache has the
// difference of head from base, nothing else of head is read.
func (o Opener) readHead(ctx context.Context, ref string, base bundleFile) (bundleFile, error) {
	if base.key == "" || o.Cache == "" || !IsCheckout(ref) {
		return o.read(ctx, ref)
	}
	in, err := o.input(ctx, ref)
	if err != nil {
		return bundleFile{}, err
	}
	pinned, contents, err := bundler.Pin(ctx, in)
	if err != nil {
		return bundleFile{}, cli.Invalid(fmt.Errorf("reference %q: %w", ref, err))
	}
	cache := openCache(o.Cache)
	if raw, ok := cache.Recall(differenceKey(base.key, contents)); ok && contents != "" {
		return bundleFile{contents: contents, difference: raw}, nil
	}
	if raw, sum, ok := cache.Bundle(contents); ok {
		return bundleFile{raw: raw, sum: sum, key: contents, contents: contents}, nil
	}
	f, err := o.checkout(ctx, pinned, "")
	if errors.Is(err, bundler.ErrChanged) {
		return o.checkout(ctx, in, "")
	}
	if err == nil && holds(ctx, pinned, contents) {
		f.contents = contents
	}
	return f, err
}

// parseHead makes the bundle of head, which shares with base. It remembers their difference, or
// the whole bundle if they differ too much.
func (o Opener) parseHead(ctx context.Context, ref string, f bundleFile, base *bundle.Bundle,
	baseFile bundleFile) (*bundle.Bundle, error) {
	if f.difference != nil {
		if b, err := base.WithDifference(f.difference); err == nil {
			return b, nil
		}
		var err error
		if f, err = o.read(ctx, ref); err != nil {
			return nil, err
		}
	}
	b, err := f.parse(ref, base)
	if err == nil && baseFile.key != "" && f.contents != "" && o.Cache != "" {
		if raw, ok := base.Difference(b); ok {
			openCache(o.Cache).Remember(differenceKey(baseFile.key, f.contents), raw)
		} else if f.key == "" {
			openCache(o.Cache).KeepBundle(f.contents, f.raw)
		}
	}
	return b, err
}

// differenceKey returns the key of the cache for the difference of two bundles.
func differenceKey(base, head string) string {
	return fmt.Sprintf("difference-%x", sha256.Sum256([]byte(base+" "+head)))
}

// indexed returns the bundle of a commit from the cache, when its index is there too. Then the
// files of the bundle are read when they are used.
func (o Opener) indexed(ctx context.Context, ref string, in bundler.Input, key string) (*bundle.Bundle, bool) {
	cache := openCache(o.Cache)
	index, ok := cache.Recall(indexKey(key))
	if !ok {
		return nil, false
	}
	stored, ok := cache.Stored(key)
	if !ok {
		return nil, false
	}
	b, err := bundle.OpenIndexed(stored, stored.Size, index, func() (*bundle.Bundle, error) {
		f, err := o.checkout(context.WithoutCancel(ctx), in, key)
		if err != nil {
			return nil, err
		}
		return f.parse(ref, nil)
	})
	if err != nil || b.SHA256() != stored.SHA256 {
		return nil, false
	}
	return b, true
}

// keepIndex remembers the index of a bundle, which must not share files with another.
func (o Opener) keepIndex(f bundleFile, b *bundle.Bundle) {
	if f.key == "" || f.raw == nil || o.Cache == "" {
		return
	}
	if index, ok := b.Index(f.raw); ok {
		openCache(o.Cache).Remember(indexKey(f.key), index)
	}
}

// indexKey returns the key of the cache for the index of a bundle.
func indexKey(key string) string { return "index-" + key }

// World returns the files of the side that a reference to a checkout stands for; nil for any
// other reference. Files that prcheck writes itself do not belong to a working tree. The keeper
// takes the bytes of files that git does not have; the zero Keeper takes none. All errors are
// of the user's making.
func (o Opener) World(ctx context.Context, ref string, own Own, keeper world.Keeper) (*world.Tree, error) {
	if !IsCheckout(ref) {
		return nil, nil //nolint:nilnil // a bundle has no files, as documented
	}
	var t *world.Tree
	var err error
	if dir, isFolder := strings.CutPrefix(ref, "dir:"); isFolder {
		t, err = o.folderWorld(ctx, dir, own, keeper)
	} else {
		revision, dir, _ := ParseRevision(ref)
		t, err = world.OfCommit(ctx, dir, revision)
	}
	if err != nil && ctx.Err() == nil {
		err = cli.Invalid(fmt.Errorf("reference %q: %w", ref, err))
	}
	return t, err
}

// folderWorld returns the files of the working tree that a folder belongs to, or those of the
// folder itself when git knows none of them.
func (o Opener) folderWorld(ctx context.Context, dir string, own Own, keeper world.Keeper) (*world.Tree, error) {
	at, err := FindWorkplace(ctx, dir)
	if err != nil {
		return nil, err
	}
	wrote := own.below(at.Root).wrote
	options := world.WorkTreeOptions{Leave: wrote, Names: namesBelow(ctx, at.Root, o.Cache), Keeper: keeper}
	if at.isRepository {
		return world.OfWorkTree(ctx, at.Root, options)
	}
	return world.OfFolder(ctx, at.Root, options)
}

// A behind is what is remembered of the links of a tree.
type behind struct {
	Whole bool
	Paths map[string][]string
}

// Behind returns what [world.Tree.Behind] does. Of a tree of a commit with this id it is remembered
// in the cache. "" is the id of no tree.
func (o Opener) Behind(id string, open func() (*world.Tree, error)) (paths map[string][]string, ok bool, err error) {
	if id == "" || open == nil {
		return nil, true, nil
	}
	key := "links-1-" + id
	var known behind
	if raw, ok := openCache(o.Cache).Recall(key); ok && json.Unmarshal(raw, &known) == nil {
		return known.Paths, known.Whole, nil
	}
	tree, err := open()
	if err != nil {
		return nil, false, err
	}
	known.Paths, known.Whole = tree.Behind()
	if raw, err := json.Marshal(known); err == nil && o.Cache != "" && isPlain(tree, known.Paths) {
		openCache(o.Cache).Remember(key, raw)
	}
	return known.Paths, known.Whole, nil
}

// isPlain reports whether the links of a tree follow from its id, and can be written as JSON: it has
// no submodules, and all names are text.
func isPlain(t *world.Tree, paths map[string][]string) bool {
	hasModule := slices.ContainsFunc(t.Files(), func(f world.File) bool { return f.Kind() == world.Submodule })
	for target, list := range paths {
		for _, p := range append([]string{target}, list...) {
			if !utf8.ValidString(p) {
				return false
			}
		}
	}
	return !hasModule
}

// HasFiles reports which paths of the repository of a reference are files or links. Of a working
// tree any may be one.
func (o Opener) HasFiles(ctx context.Context, ref string, paths []string) ([]bool, error) {
	revision, dir, isRevision := ParseRevision(ref)
	if !isRevision {
		return slices.Repeat([]bool{true}, len(paths)), nil
	}
	c, err := git.OpenCommit(ctx, dir, revision)
	if err != nil {
		return nil, err
	}
	return c.HasFiles(ctx, paths)
}
