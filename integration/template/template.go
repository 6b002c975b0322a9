package template

// A Template is a list of objects with the parameters that occur in them.
type Template struct {
	Objects    []map[string]any
	Parameters []Parameter
	Labels     map[string]string // added to each object
}

// A Parameter is declared by a template. Its value is the default, nil if there is none.
type Parameter struct {
	Name     string
	Value    *string
	Required bool
	Generate string // how a missing value would be made up, which is never done
}
