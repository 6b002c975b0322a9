package bundle

import (
	"crypto/sha256"
	"fmt"
	"hash"
)

// ContentsSHA256 returns a sha256 of everything that the bundle holds except its commit, as
// 64 hex digits. The order of the files counts.
func (b *Bundle) ContentsSHA256() string {
	s := contentHash{sha256.New()}
	s.addTexts(b.graphql)
	s.addFiles(&b.schemas, &b.datafiles, &b.resources)
	return s.hexDigest()
}

// TypesSHA256 returns a sha256 of the GraphQL types and the JSON schemas of the bundle, as
// 64 hex digits.
func (b *Bundle) TypesSHA256() string {
	s := contentHash{sha256.New()}
	s.addTexts(b.graphql)
	s.addFiles(&b.schemas)
	return s.hexDigest()
}

// A contentHash hashes a sequence of texts and sections. It includes their lengths, so
// different sequences never have the same input.
type contentHash struct{ hash.Hash }

func (s contentHash) addTexts(list ...[]byte) {
	for _, t := range list {
		_, _ = fmt.Fprintf(s, "%d:", len(t)) // writing to a hash never fails
		_, _ = s.Write(t)
	}
}

func (s contentHash) addFiles(sections ...*section) {
	for _, list := range sections {
		_, _ = fmt.Fprintf(s, "%d files:", len(list.files))
		for _, f := range list.files {
			s.addTexts([]byte(f.Path), f.text())
		}
	}
}

func (s contentHash) hexDigest() string { return fmt.Sprintf("%x", s.Sum(nil)) }
