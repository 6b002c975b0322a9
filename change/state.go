package change

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/ci/revisions"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/internal/safepath"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
)

// KeyVariable is the variable that names the file with the private key of the state.
const KeyVariable = "PRCHECK_STATE_KEY"

// A StateFlag is the place of the state, and what decides which of its documents count.
type StateFlag struct {
	Place    string // a folder, or s3://BUCKET/PREFIX; "" when nothing is remembered
	Access   state.Access
	Settings source.OpenedSettings
	// Base and Head are references, if they are known. Neither may have the folder, and
	// settings that base has as well are base's.
	Base, Head string
}

// InJob reports whether this process runs in a job of a CI system or in a pod of a plan. The
// checkout there is head's.
func InJob(getenv func(string) string) bool {
	return revisions.InJob(getenv) || getenv != nil && (isSet(getenv("CI")) || getenv("JOB_COMPLETION_INDEX") != "")
}

func isSet(value string) bool { return !slices.Contains([]string{"", "0", "false"}, value) }

// OpenState opens the state; nil when no place is named. Only documents count that the
// settings trust. An error is of the user's making, unless the place cannot be reached.
func OpenState(ctx context.Context, env cli.Env, f StateFlag) (state.Store, error) {
	if f.Place == "" {
		return nil, nil
	}
	if err := f.RefuseTracked(ctx); err != nil {
		return nil, err
	}
	trust, note, err := f.Trust(ctx, env)
	if err != nil {
		return nil, err
	}
	if note != "" {
		_, _ = fmt.Fprintln(env.Stderr, note) // the run goes on
	}
	s, err := openAny(ctx, f.Place, f.Access)
	if s == nil {
		return nil, err
	}
	return state.Trusted(s, trust), err
}

// ReadState opens the state to show what is in it to people. All documents count.
func ReadState(ctx context.Context, place string) (state.Store, error) {
	s, err := openAny(ctx, place, state.Reading)
	if s == nil {
		return nil, err
	}
	return state.Trusted(s, state.Trust{Unsigned: true}), err
}

// WriteNotes opens the state to write documents that prove nothing, for people.
func WriteNotes(ctx context.Context, place string) (state.Store, error) {
	return openAny(ctx, place, state.Writing)
}

func openAny(ctx context.Context, place string, access state.Access) (state.Store, error) {
	if place == "" {
		return nil, nil
	}
	s, err := state.At(ctx, place, access)
	if err != nil && !errors.Is(err, state.ErrUnreachable) {
		err = invalid(ctx, err)
	}
	return s, err
}

// TryState is [OpenState] for a command that can do without the state. When the place cannot
// be reached there is none, and when it cannot be written to it is only read. A line on
// stderr says so.
func TryState(ctx context.Context, env cli.Env, f StateFlag) (state.Store, error) {
	s, err := OpenState(ctx, env, f)
	switch {
	case errors.Is(err, state.ErrUnreachable):
		_, _ = fmt.Fprintf(env.Stderr, "warning: nothing is remembered: %s\n", sanitize.Line(err.Error())) // the run goes on
		return nil, nil
	case errors.Is(err, state.ErrReadOnly):
		_, _ = fmt.Fprintf(env.Stderr, "warning: nothing new is remembered: %s\n", sanitize.Line(err.Error()))
		return s, nil
	}
	return s, err
}

func (f StateFlag) isBucket() bool { return source.IsObject(f.Place) }

// Trust finds out which documents count. The note says if none does, or if none is signed
// although there is a private key; otherwise it is "".
func (f StateFlag) Trust(ctx context.Context, env cli.Env) (t state.Trust, note string, err error) {
	var said settings.StateTrust
	if f.Settings.Settings != nil && (!InJob(env.Getenv) || f.isFromBase(ctx)) {
		said = f.Settings.StateTrust()
	}
	t = state.Trust{Keys: said.Keys, Project: cmp.Or(said.Project, variable(env, "CI_MERGE_REQUEST_PROJECT_PATH"),
		variable(env, "CI_PROJECT_PATH"))}
	why := ""
	switch {
	case f.isBucket():
		t.Unsigned, why = said.Bucket, "the settings do not trust its bucket"
	case InJob(env.Getenv):
		why = "a job cannot tell who wrote to it"
	case liesInCheckout(f.Place):
		why = "it lies in a checkout"
	default:
		t.Unsigned = true
	}
	if t.Key, err = privateKey(env); err != nil {
		return t, "", err
	}
	if !t.Counts() {
		note = fmt.Sprintf("note: the state lends durations only, since %s and state.keys of the settings names no keys", why)
	} else if t.Key != nil && !t.CanSign() {
		note = fmt.Sprintf("warning: nothing is signed in the state: state.keys of the settings lacks %s, the public "+
			"key of %s", PublicKey(t.Key), KeyVariable)
	}
	return t, note, nil
}

// isFromBase reports whether the settings cannot come from head: a revision was named, they
// lie outside of every checkout, or base has the same.
func (f StateFlag) isFromBase(ctx context.Context) bool {
	if f.Settings.Revision != nil || f.Settings.IsObject || !liesInCheckout(f.Settings.File) {
		return true
	}
	_, rel, _ := safepath.Checkout(f.Settings.File)
	base, err := source.OpenSettings(ctx, settings.FromBase+filepath.ToSlash(rel), f.Base)
	return err == nil && base.Digest() == f.Settings.Digest()
}

// liesInCheckout reports whether a file or folder lies in a checkout, by its name or where
// the links in it lead.
func liesInCheckout(name string) bool {
	if _, _, ok := safepath.Checkout(name); ok {
		return true
	}
	for dir := filepath.Clean(name); ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			_, _, ok := safepath.Checkout(real)
			return ok
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// RefuseTracked returns an error if the folder of the state is a part of the repository.
func (f StateFlag) RefuseTracked(ctx context.Context) error {
	if f.isBucket() {
		return nil
	}
	root, rel, ok := safepath.Checkout(f.Place)
	if !ok {
		return nil
	}
	repo, err := git.FindRepository(ctx, root)
	if err != nil {
		return invalid(ctx, err)
	}
	rel = filepath.ToSlash(rel)
	tracked, err := repo.Tracked(ctx, rel)
	if err != nil {
		return invalid(ctx, err)
	}
	for _, side := range []string{f.Base, f.Head} {
		if revision, _, ok := source.ParseRevision(side); ok && tracked == "" {
			if has, err := repo.HasPath(ctx, rel, revision); err != nil {
				return err
			} else if has {
				tracked = rel
			}
		}
	}
	if tracked != "" {
		return cli.Invalid(fmt.Errorf("the state %q cannot be used: the repository has %q; take it out of the repository, "+
			"or name another place with --state", f.Place, tracked))
	}
	return nil
}

func variable(env cli.Env, name string) string {
	if env.Getenv == nil {
		return ""
	}
	return env.Getenv(name)
}

// privateKey reads the private key that [KeyVariable] names, nil when it names none.
func privateKey(env cli.Env) (ed25519.PrivateKey, error) {
	name := strings.TrimSpace(variable(env, KeyVariable))
	if name == "" {
		return nil, nil
	}
	key, err := readKey(name)
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("reading the private key that %s names: %w", KeyVariable, err))
	}
	return key, nil
}

// pemType is the kind of PEM block that has a private key, as openssl writes it.
const pemType = "PRIVATE KEY"

// maxKey is how many bytes of a key file are read.
const maxKey = 64 << 10

// MakeKey makes a key pair for the state. The private key goes to a new file that only the
// user can read; the public key is returned as the settings have it.
func MakeKey(name string) (public string, err error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", fmt.Errorf("making a key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", fmt.Errorf("making a key: %w", err)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", cli.Invalid(fmt.Errorf("writing the private key: %w", err))
	}
	err = errors.Join(pem.Encode(f, &pem.Block{Type: pemType, Bytes: der}), f.Sync(), f.Close())
	if err != nil {
		return "", fmt.Errorf("writing the private key: %w", err)
	}
	return PublicKey(key), nil
}

// PublicKey returns the public key of a private key, as the settings have it.
func PublicKey(key ed25519.PrivateKey) string {
	return settings.PublicKeyText(key.Public().(ed25519.PublicKey))
}

// SigningKey returns the public key of the private key that [KeyVariable] names, as the
// settings have it; "" if it names none.
func SigningKey(env cli.Env) (string, error) {
	key, err := privateKey(env)
	if key == nil || err != nil {
		return "", err
	}
	return PublicKey(key), nil
}

// readKey reads a private key from a file. Its errors show nothing of the file.
func readKey(name string) (ed25519.PrivateKey, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxKey))
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(raw)
	if block == nil || block.Type != pemType {
		return nil, errors.New("it is no private key as planner upkeep keygen makes it")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, errors.New("it is no private Ed25519 key as planner upkeep keygen makes it")
	}
	return key, nil
}
