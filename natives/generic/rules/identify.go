package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

// Identify returns what makes an item of a list the same as another one, and its name in
// paths: its keys, as in name=a,port=80, or the JSON text of an item of a set. A key that is
// missing counts as its default. The id of an item is "" if it has no keys or no default for
// one. A name has a bounded length. At returns the rule of a pattern; the pattern and the rule are those of the list.
func Identify(at func(pattern string) Rule, pattern string, list Rule, item any) (id, name string) {
	pattern += "/*"
	if list.List == classes.Set {
		inner := at(pattern)
		name = body.Text(item)
		if inner.Secret {
			name = body.Text(Hidden)
		}
		return body.Spelling(body.WithoutEmpty(item), inner.Format), shorten(name)
	}
	members, ok := item.(map[string]any)
	if !ok || len(list.Keys) == 0 {
		return "", "?"
	}
	var ids, names []string
	for _, key := range list.Keys {
		r := at(jsonpointer.Append(pattern, key))
		v := members[key]
		if v == nil {
			v = r.Default
		}
		if v == nil {
			return "", "?"
		}
		text, isText := v.(string)
		switch {
		case r.Secret:
			text = Hidden
		case !isText:
			text = body.Text(v)
		}
		ids = append(ids, body.Spelling(body.WithoutEmpty(v), r.Format))
		names = append(names, key+"="+shorten(text))
	}
	return strings.Join(ids, ","), strings.Join(names, ",")
}

// maxName is the length in bytes up to which the value of an item stands in a path as it is.
const maxName = 1000

// shorten returns a value as it stands in a path: the beginning and the hash of a long one.
func shorten(name string) string {
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return strings.ToValidUTF8(name[:maxName], "") + "…" + hex.EncodeToString(sum[:8])
}
