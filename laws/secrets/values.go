package main

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// A side names one of the two sets of secrets.
type side int

// The two sets.
const (
	first side = iota
	second
)

// String returns the name of a set.
func (s side) String() string { return [...]string{"first", "second"}[s] }

// A store is a store of secrets. It makes each value up when it is asked for, so that no secret is
// the same in both sets.
type store struct {
	seed  uint64
	index int
	// credentials are the names of the variables with credentials of systems of base. Both sets have
	// values that such a system would take.
	credentials map[string]bool
	servers     map[string]string // values that are the same in both sets, because the data have them
	// words are values that stand in the data as well, such as a name; tries are values by which the data
	// or an object of a cluster try what a secret is.
	words, tries []string
	// absent says that secrets may be empty in one set. A store without a value is a fault of the
	// store, which a check has to tell.
	absent bool
}

// rng returns the source of random choices about one thing.
func rng(seed uint64, index int, about string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(about))                                 // never fails
	return rand.New(rand.NewPCG(seed^h.Sum64(), uint64(index)+1)) //nolint:gosec // tests need no secure numbers
}

// value returns the value of a variable in a set.
func (s store) value(of side, name string) string {
	r := rng(s.seed, s.index, fmt.Sprintf("%s %s", of, name))
	if same, ok := s.servers[name]; ok {
		return same
	}
	if s.credentials[name] {
		return letters(r, alphabets[r.IntN(len(alphabets))], 5+r.IntN(60))
	}
	if s.absent && r.IntN(2) == 0 {
		return ""
	}
	if n := r.IntN(10); n == 0 && len(s.words) > 0 {
		return s.words[r.IntN(len(s.words))]
	} else if n < 6 && len(s.tries) > 0 {
		return s.tries[r.IntN(len(s.tries))]
	}
	return makers[r.IntN(len(makers))](r)
}

// alphabets are the characters that values are made of.
var alphabets = []string{
	"abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", "0123456789abcdef",
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=._-~!$&'()*,;@%",
}

// letters returns a text of n characters.
func letters(r *rand.Rand, alphabet string, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(out)
}

// special are values that mean something to a reader of YAML, JSON, templates, addresses or names.
var special = []string{
	"null", "true", "false", "yes", "none", "~~~~", "1e3000", "0x1F", "1_000", "12.50", "-1234", "0777", "1:30:00",
	"2026-01-01", ".inf", "[1, 2", "{a: 1", "a: b", "- x: y",
	"# only a comment", "value # comment", "'quoted", `"quoted`, "|\n  block\n", "&anchor", "*alias", "!!binary AAAA",
	"<<: {}", "---\nkind: ConfigMap\n", "a\tb\tc", " blank before", "blank after ",
	"${IMAGE_TAG}", "${{REPLICAS}}", "{{ .Values.x }}", "{{{ resource.name }}}", "$(command)", "%s%d%v", "../../../etc",
	"a/b/c:d@e", "user:pass@host", "https://evil.example.net/x", "evil.example.net:5000/x",
	"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "Zoë-ünïcode-✓", `{"json": ["a", 1]}`,
	`["list"]`, "line1\nline2\nline3", "-----BEGIN KEY-----\nMIIB\nAAAA\n-----END KEY-----\n", "\r\nwindows\r\n",
}

// makers make values of secrets.
var makers = []func(r *rand.Rand) string{
	func(r *rand.Rand) string { return letters(r, alphabets[r.IntN(len(alphabets))], 4+r.IntN(40)) },
	func(r *rand.Rand) string { return letters(r, alphabets[2], 4+r.IntN(12)) },
	func(r *rand.Rand) string { return letters(r, alphabets[3], 64) },
	func(r *rand.Rand) string { return special[r.IntN(len(special))] },
	func(r *rand.Rand) string { return strings.Repeat(letters(r, alphabets[4], 7)+" ", 100+r.IntN(400)) },
	func(r *rand.Rand) string {
		return base64.StdEncoding.EncodeToString([]byte(letters(r, alphabets[5], 20)))
	},
	func(r *rand.Rand) string { return letters(r, alphabets[0], 4) + "\n" + letters(r, alphabets[1], 9) },
}
