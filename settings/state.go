package settings

import (
	"crypto/ed25519"
	"encoding/base64"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/phrase"
)

// A StateTrust says which documents of the state may make something be skipped.
type StateTrust struct {
	Keys    []ed25519.PublicKey // a document must be signed with one of them
	Project string              // is signed, too; "" means the project of the job
	Bucket  bool                // documents of a bucket count although nobody signed them
}

// KeyPrefix is what public keys in the settings begin with; base64 of the key follows.
const KeyPrefix = "ed25519:"

// PublicKeyText returns a public key as the settings have it.
func PublicKeyText(key ed25519.PublicKey) string {
	return KeyPrefix + base64.StdEncoding.EncodeToString(key)
}

// maxStateKeys is how many public keys the settings may have.
const maxStateKeys = 10

// StateTrust returns what the settings say about the state.
func (s *Settings) StateTrust() StateTrust { return s.state }

// readState reads the key state.
func (r *reader) readState(n *yaml.Node) (out StateTrust) {
	keys := r.readObject(n, "state", "keys", "project", "trust")
	if n := keys["keys"]; n != nil {
		list := r.readNonEmptyList(n, "state.keys")
		r.checkCount(n, "state.keys", maxStateKeys, "keys")
		r.noteItems(list, constraint{"pattern": "^" + KeyPrefix + "[A-Za-z0-9+/]{43}=$"})
		for _, t := range r.readUniqueTexts(list, "state.keys") {
			key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(t.value, KeyPrefix))
			if err != nil || len(key) != ed25519.PublicKeySize || !strings.HasPrefix(t.value, KeyPrefix) {
				r.fail(t.line, "state.keys", "%s is no public key as planner upkeep keygen prints it", phrase.Quote(t.value))
			}
			out.Keys = append(out.Keys, key)
		}
	}
	if n := keys["project"]; n != nil {
		out.Project, _ = r.readText(n, "state.project")
	}
	if n := keys["trust"]; n != nil {
		r.readChoice(n, "state.trust", []string{"bucket"})
		out.Bucket = n.Value == "bucket"
	}
	return out
}
