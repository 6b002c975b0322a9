package bundler

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// Our parser does not know \/, an escape in double quotes that libyaml knows. So \/
// is replaced by \v, an escape for a vertical tab, before the file is parsed, and
// replaced back afterwards. In double quotes the parser has made a vertical tab of
// it; in other text it is still \v. Both escapes have the same length, so lines and
// columns stay right. A file that contains an escape for a vertical tab itself cannot
// be read this way.
var (
	slashEscape       = lazyregexp.New(`\\+/`)
	verticalTabEscape = lazyregexp.New(`\\v|\\x0[bB]|\\u000[bB]|\\U0000000[bB]`)
)

// replaceSlashEscapes replaces the escape \/ by \v. Found says whether there was one,
// ok whether the file can be read this way.
func replaceSlashEscapes(raw []byte) (out []byte, found, ok bool) {
	if !bytes.Contains(raw, []byte(`\/`)) {
		return raw, false, true
	}
	if verticalTabEscape.Match(raw) {
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

// restoreSlashEscapes replaces the escapes back in a node and all nodes below it.
func restoreSlashEscapes(n *yaml.Node) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Style&yaml.DoubleQuotedStyle != 0:
		n.Value = strings.ReplaceAll(n.Value, "\v", "/")
	case n.Kind == yaml.ScalarNode:
		n.Value = strings.ReplaceAll(n.Value, `\v`, `\/`)
	}
	for _, c := range n.Content {
		restoreSlashEscapes(c)
	}
}
