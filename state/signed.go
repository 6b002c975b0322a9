package state

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ErrUntrusted says that a document does not count: it is not signed as it must be.
var ErrUntrusted = errors.New("it is not signed with a key of the settings, or too long ago")

// MaxSignedAge is how long a signature counts. Whoever can write to the state can bring
// back an older document with its signature, but not for longer than this. It does not hold
// in the folder [Natives].
const MaxSignedAge = 14 * 24 * time.Hour

// maxClockSkew is by how much the clocks of two machines may differ.
const maxClockSkew = time.Hour

// A Trust says which documents of a state count, and who writes them. It holds for every
// document by which something may be skipped, that is for all but those in the folders
// that freeFolders lists.
type Trust struct {
	Unsigned bool                // documents count although nobody signed them
	Keys     []ed25519.PublicKey // documents count that were signed with one of these
	Key      ed25519.PrivateKey  // signs what is written; nil signs nothing
	Project  string              // is signed together with a document
}

// Counts reports whether documents count at all, so that something may be skipped.
func (t Trust) Counts() bool { return t.Unsigned || len(t.Keys) > 0 }

// CanSign reports whether the private key belongs to one of the public keys.
func (t Trust) CanSign() bool {
	if t.Key == nil {
		return false
	}
	public := t.Key.Public().(ed25519.PublicKey)
	return slices.ContainsFunc(t.Keys, func(k ed25519.PublicKey) bool { return k.Equal(public) })
}

// freeFolders have documents that make nothing be skipped: they count without a signature.
var freeFolders = []string{"durations", "tally", "leases", "collection", "corrupt", "audits"}

func isFree(key string) bool {
	folder, _, _ := strings.Cut(key, "/")
	return slices.Contains(freeFolders, folder)
}

// A trusted is a store in which only documents count that a [Trust] accepts. The others
// are as good as missing.
type trusted struct {
	Store
	trust Trust
	now   func() time.Time
}

// Trusted returns a store in which only documents count that a trust accepts. What cannot
// be signed although it must be is not written: the error is [ErrReadOnly].
func Trusted(s Store, t Trust) Store { return trusted{s, t, time.Now} }

// Read implements [Store].
func (s trusted) Read(ctx context.Context, key string) ([]byte, error) {
	raw, err := s.Store.Read(ctx, key)
	if err != nil || isFree(key) {
		return raw, err
	}
	if raw, err = s.open(key, raw); err != nil {
		return nil, fmt.Errorf("reading %q in the state: %w", key, err)
	}
	return raw, nil
}

// Write implements [Store].
func (s trusted) Write(ctx context.Context, key string, raw []byte) error {
	if isFree(key) {
		return s.Store.Write(ctx, key, raw)
	}
	sealed, err := s.seal(key, raw)
	if err != nil {
		return err
	}
	return s.Store.Write(ctx, key, sealed)
}

// Update implements [Store]. A document that does not count is replaced, as if there were
// none.
func (s trusted) Update(ctx context.Context, key string, change func(old []byte) ([]byte, error)) error {
	if isFree(key) {
		return s.Store.Update(ctx, key, change)
	}
	if _, err := s.seal(key, nil); err != nil {
		return err
	}
	return s.Store.Update(ctx, key, func(old []byte) ([]byte, error) {
		if old != nil {
			content, err := s.open(key, old)
			if errors.Is(err, ErrOtherVersion) {
				return nil, err
			}
			old = content
		}
		raw, err := change(old)
		if err != nil || raw == nil {
			return nil, err
		}
		return s.seal(key, raw)
	})
}

// List implements [Store].
func (s trusted) List(ctx context.Context, folder string) ([]Entry, error) {
	if folder != "" && !isFree(folder) && !s.trust.Counts() {
		return nil, nil
	}
	return s.Store.List(ctx, folder)
}

// tidy removes what writers left that died, see [Collect].
func (s trusted) tidy(ctx context.Context, before time.Time) error {
	if t, ok := s.Store.(tidier); ok {
		return t.tidy(ctx, before)
	}
	return nil
}

// sealVersion is the version of a seal; it is a part of what is signed.
const sealVersion = "prcheck-signed/v1"

// A seal is a document with its signature, as it is stored. A program that knows no seals
// takes it for a document of another version.
type seal struct {
	Version   string          `json:"version"`
	Key       string          `json:"key"` // public key, base64
	Signed    time.Time       `json:"signed"`
	Signature string          `json:"signature"` // base64
	Document  json.RawMessage `json:"document,omitempty"`
}

// sealPrefix is what the text of a seal of any version begins with.
const sealPrefix = `{"version":"prcheck-signed/`

// message returns what is signed: everything that makes a document what it is.
func (s seal) message(project, key string) []byte {
	return fmt.Appendf(nil, "%s\nproject %q\nkey %q\nsigned %s\nsha256 %x\n", sealVersion, project, key,
		s.Signed.UTC().Format(time.RFC3339), sha256.Sum256(s.Document))
}

// seal returns a document as it is stored under a key.
func (s trusted) seal(key string, raw []byte) ([]byte, error) {
	if !s.trust.CanSign() {
		if s.trust.Unsigned {
			return raw, nil
		}
		return nil, refuseWrite(key)
	}
	raw = bytes.TrimSpace(raw) // a reader of the seal gets the document without the space around it
	out := seal{Version: sealVersion, Signed: s.now().UTC().Truncate(time.Second), Document: raw}
	out.Key = base64.StdEncoding.EncodeToString(s.trust.Key.Public().(ed25519.PublicKey))
	out.Signature = base64.StdEncoding.EncodeToString(ed25519.Sign(s.trust.Key, out.message(s.trust.Project, key)))
	out.Document = nil
	head, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("signing %q in the state: %w", key, err)
	}
	// The document is written as it is, since encoding would change its bytes.
	return slices.Concat(head[:len(head)-1], []byte(`,"document":`), raw, []byte("}")), nil
}

// open returns the document that is stored under a key. The error is [ErrUntrusted] if it
// does not count, and [ErrOtherVersion] if a later program sealed it.
func (s trusted) open(key string, raw []byte) ([]byte, error) {
	if !strings.HasPrefix(string(raw[:min(len(raw), len(sealPrefix))]), sealPrefix) {
		if s.trust.Unsigned {
			return raw, nil
		}
		return nil, ErrUntrusted
	}
	var found seal
	if err := json.Unmarshal(raw, &found); err != nil {
		return nil, ErrUntrusted
	}
	switch {
	case found.Version != sealVersion:
		return nil, ErrOtherVersion
	case s.trust.Unsigned:
		return found.Document, nil
	case !s.isGenuine(key, found):
		return nil, ErrUntrusted
	}
	return found.Document, nil
}

// isGenuine reports whether a document was signed with one of the keys, for this project
// and this place in the state, and not too long ago.
func (s trusted) isGenuine(key string, found seal) bool {
	public, err := base64.StdEncoding.DecodeString(found.Key)
	signature, bad := base64.StdEncoding.DecodeString(found.Signature)
	age := s.now().Sub(found.Signed)
	isOld := age > MaxSignedAge && !strings.HasPrefix(key, Natives+"/")
	if err != nil || bad != nil || age < -maxClockSkew || isOld {
		return false
	}
	i := slices.IndexFunc(s.trust.Keys, func(k ed25519.PublicKey) bool { return k.Equal(ed25519.PublicKey(public)) })
	return i >= 0 && ed25519.Verify(s.trust.Keys[i], found.message(s.trust.Project, key), signature)
}
