package validator

// FromYAML parses a YAML text like PyYAML. Tests make bundles with it.
func FromYAML(text string) (any, error) { return fromYAML(text) }

// ToPlain converts a value to the types of encoding/json.
func ToPlain(v any) any { return toPlain(v) }
