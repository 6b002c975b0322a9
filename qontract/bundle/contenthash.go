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

// A contentHash hashes a sequence of texts and sections. It includes the lengths of texts and the sha256
// of files, so different sequences never have the same input.
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
			s.addTexts([]byte(f.Path))
			sum := f.sum()
			_, _ = s.Write(sum[:])
		}
	}
}

// sum returns the sha256 of the text of the file. It is computed once, also if several bundles share the file,
// and keeps no text that was not used before.
func (f *File) sum() [sha256.Size]byte {
	if known := f.hashed.Load(); known != nil {
		return *known
	}
	var out [sha256.Size]byte
	f.Peek(func(raw []byte) { out = sha256.Sum256(raw) })
	f.hashed.Store(&out)
	return out
}

func (s contentHash) hexDigest() string { return fmt.Sprintf("%x", s.Sum(nil)) }
