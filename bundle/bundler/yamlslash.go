package bundler

import (
	"bytes"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The parser does not know \/, an escape of text in double quotes that libyaml
// knows. It is handed \v in its place, which no file has, and what it reads is
// turned back: the character in text with double quotes, the two characters in
// all other text. Both have the same length, so places stay what they are.
var (
	slashEscape = regexp.MustCompile(`\\+/`)
	tabEscape   = regexp.MustCompile(`\\v|\\x0[bB]|\\u000[bB]|\\U0000000[bB]`)
)

// withoutSlashes takes the place of the escape; found tells whether there was
// one, ok whether the file can be read this way.
func withoutSlashes(raw []byte) (out []byte, found, ok bool) {
	if !bytes.Contains(raw, []byte(`\/`)) {
		return raw, false, true
	}
	if tabEscape.Match(raw) {
		return raw, true, false
	}
	out = slashEscape.ReplaceAllFunc(raw, func(run []byte) []byte {
		if len(run)%2 == 0 { // an odd number of backslashes: the last one begins an escape
			run = append(bytes.Clone(run[:len(run)-1]), 'v')
		}
		return run
	})
	return out, true, true
}

// restoreSlashes turns back what the parser read.
func restoreSlashes(n *yaml.Node) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Style&yaml.DoubleQuotedStyle != 0:
		n.Value = strings.ReplaceAll(n.Value, "\v", "/")
	case n.Kind == yaml.ScalarNode:
		n.Value = strings.ReplaceAll(n.Value, `\v`, `\/`)
	}
	for _, c := range n.Content {
		restoreSlashes(c)
	}
}
