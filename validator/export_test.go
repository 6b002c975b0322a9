package validator

// FromYAML reads a YAML text as PyYAML does, to make bundles in tests.
func FromYAML(text string) (any, error) { return fromYAML(text) }

// ToPlain turns a value into the types of encoding/json.
func ToPlain(v any) any { return toPlain(v) }
