package edit

import "go.yaml.in/yaml/v3"

// find returns the target that a change is about.
func (e *editor) find(root *yaml.Node, c Change) (*yaml.Node, error) {
	templates, err := child(root, "resourceTemplates")
	if err != nil {
		return nil, err
	}
	if templates == nil { // the file is a target
		fits, err := isTarget(root, c)
		if err == nil && !fits {
			err = refuse("it is no saas file, and not the target of %s", c.Namespace)
		}
		return root, err
	}
	if err := plain(templates, yaml.SequenceNode); err != nil {
		return nil, err
	}
	var found []*yaml.Node
	for _, t := range templates.Content {
		some, err := targetsOf(t, c)
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	if found, err = tellApart(found, c); err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, refuse("%d targets of the template %q deploy to %q with the name %q", len(found), c.Template, c.Namespace,
			c.Name)
	}
	return found[0], nil
}

// targetsOf returns the targets of a template that fit a change.
func targetsOf(template *yaml.Node, c Change) ([]*yaml.Node, error) {
	if err := plain(template, yaml.MappingNode); err != nil {
		return nil, err
	}
	switch name, err := word(template, "name"); {
	case err != nil:
		return nil, err
	case name != c.Template:
		return nil, nil
	}
	list, err := child(template, "targets")
	if err != nil || list == nil {
		return nil, err
	}
	if err := plain(list, yaml.SequenceNode); err != nil {
		return nil, err
	}
	var out []*yaml.Node
	for _, t := range list.Content {
		fits, err := isTarget(t, c)
		if err != nil {
			return nil, err
		}
		if fits {
			out = append(out, t)
		}
	}
	return out, nil
}

// isTarget reports whether a node is the target of a change.
func isTarget(node *yaml.Node, c Change) (bool, error) {
	if err := plain(node, yaml.MappingNode); err != nil {
		return false, err
	}
	namespace, err := child(node, "namespace")
	if err != nil {
		return false, err
	}
	if namespace == nil {
		selector, err := child(node, "namespaceSelector")
		if err != nil || selector == nil || c.Namespace != "" {
			return false, err
		}
	} else {
		if err := plain(namespace, yaml.MappingNode); err != nil {
			return false, err
		}
		path, err := word(namespace, "$ref")
		if err != nil || path != c.Namespace || path == "" {
			return false, err
		}
	}
	name, err := word(node, "name")
	return name == c.Name, err
}

// child returns the value of a key of a mapping, nil if it has none.
func child(mapping *yaml.Node, key string) (*yaml.Node, error) {
	var out *yaml.Node
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		switch k := mapping.Content[i]; {
		case k.Kind == yaml.AliasNode, k.Tag == "!!merge", k.Value == "<<":
			return nil, refuse("line %d has a merge key or an alias as key", k.Line)
		case k.Kind != yaml.ScalarNode || k.Value != key:
		case out != nil:
			return nil, refuse("line %d has the key %s for the second time", k.Line, key)
		case k.Anchor != "":
			return nil, refuse("the key in line %d has an anchor", k.Line)
		default:
			out = mapping.Content[i+1]
		}
	}
	return out, nil
}

// plain returns an error unless a node is of a kind, and is neither an alias nor the place of an
// anchor.
func plain(node *yaml.Node, kind yaml.Kind) error {
	switch {
	case node.Kind == yaml.AliasNode:
		return refuse("line %d has an alias", node.Line)
	case node.Anchor != "":
		return refuse("line %d has the anchor %.40q", node.Line, node.Anchor)
	case node.Kind != kind:
		return refuse("line %d has a value of the wrong kind", node.Line)
	}
	return nil
}

// word returns the text of a scalar below a key, "" if there is none.
func word(mapping *yaml.Node, key string) (string, error) {
	node, err := child(mapping, key)
	if err != nil || node == nil || node.Tag == "!!null" {
		return "", err
	}
	return node.Value, plain(node, yaml.ScalarNode)
}
