package names

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// MaxLabel is the maximal length of a DNS label and of a label's value on Kubernetes.
const MaxLabel = 63

// digestSize is the length of a digest at the end of a name: 26 letters and digits are 128
// bits, so nobody finds two texts with one digest.
const digestSize = 26

var (
	dnsLabel   = lazyregexp.New(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
	labelValue = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	withDigest = lazyregexp.New(`^(.*-)?[a-z2-7]{26}$`) // what stemAndDigest returns
	lowerCase  = base32.StdEncoding.WithPadding(base32.NoPadding)
)

// DNSLabel returns a DNS label (RFC 1123) for any text: lower-case letters, digits and
// hyphens, with at most maxLength characters, which must be from 28 to 63. A text that is such
// a label is its own; any other one has a readable part and a digest. Different texts have
// different labels.
func DNSLabel(text string, maxLength int) string {
	maxLength = min(max(maxLength, digestSize+2), MaxLabel)
	if isOwnName(text, dnsLabel, maxLength) {
		return text
	}
	return stemAndDigest(text, strings.ToLower(text), maxLength)
}

// LabelValue returns the value of a label on Kubernetes for any text, by the same rules as
// [DNSLabel]. It keeps capital letters, dots and underscores as well. No text is no value.
func LabelValue(text string) string {
	if text == "" || isOwnName(text, labelValue, MaxLabel) {
		return text
	}
	return stemAndDigest(text, text, MaxLabel)
}

// isOwnName reports whether a text can stand for itself. A text that looks like one with a
// digest cannot: somebody could have chosen it to be mistaken for another.
func isOwnName(text string, safe *lazyregexp.Regexp, maxLength int) bool {
	return len(text) <= maxLength && safe.MatchString(text) && !withDigest.MatchString(text)
}

// stemAndDigest returns a readable part of a text, and the digest of the whole text.
func stemAndDigest(text, readable string, maxLength int) string {
	sum := sha256.Sum256([]byte(text))
	digest := strings.ToLower(lowerCase.EncodeToString(sum[:])[:digestSize])
	stem := strings.Map(func(r rune) rune {
		if r < 0x80 && labelValue.MatchString(string(r)) {
			return r
		}
		return '-'
	}, readable[:min(len(readable), MaxLabel)])
	stem = strings.Trim(stem[:min(len(stem), maxLength-digestSize-1)], "-")
	if stem == "" {
		return digest
	}
	return stem + "-" + digest
}
