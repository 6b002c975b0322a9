package rules

import (
	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// Hidden stands for a secret in everything that people or programs read.
const Hidden = "(secret)"

// Mask returns a value as outputs may show it: [Hidden] stands for secrets, and for what the
// service does not show either.
// The pattern and the path are those of the value.
func Mask(r Rules, pattern, path string, v any) any {
	rule := Find(r, pattern, path)
	if v == nil {
		return nil
	}
	if rule.Secret || rule.WriteOnly || rule.Doubt != "" {
		return Hidden
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = Mask(r, jsonpointer.Append(pattern, name), jsonpointer.Append(path, name), item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = Mask(r, pattern+"/*", path+"/*", item)
		}
		return out
	case string:
		if rule.Masked {
			return Hidden
		}
	}
	return v
}
