package classes

import (
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// secret decides whether a value must be shown nowhere.
func (c *Classifier) secret(n *node, p *Property, in *inherited) error {
	p.Masked = p.Type == "string" && n.step.kind == property && LooksSecret(n.step.name) &&
		!slices.Contains(c.plain, n.step.name)
	if in.secret != nil {
		return nil
	}
	mark, err := firstKeyword("x-ms-secret", n.all()...)
	if err != nil {
		return err
	}
	format, err := firstKeyword("format", n.all()...)
	switch {
	case err != nil:
		return err
	case mark.Value.Is():
		in.secret = declared(mark, "x-ms-secret")
	case format.Value.Text() == "password":
		in.secret = declared(format, "format is password")
	}
	return nil
}

// MasksKey reports whether the value of a key of a map is masked: its name looks like that of a secret, and it may be a
// text. The property is that of all values of the map.
func (c *Classifier) MasksKey(p *Property, name string) bool {
	isText := p.Type == "string" || p.Type == ""
	return p.IsValue && isText && LooksSecret(name) && !slices.Contains(c.plain, name)
}

// lastName returns the last name of a path, either dotted or a JSON pointer.
func lastName(path string) string {
	if strings.HasPrefix(path, "/") {
		return jsonpointer.Unescape(path[strings.LastIndexByte(path, '/')+1:])
	}
	return path[strings.LastIndexByte(path, '.')+1:]
}

// plainNames returns the names of properties of a type that look like those of secrets and are none.
// In the types that every server of Kubernetes has, a key is the name of something: of a label, of a
// taint, of a part of a Secret. The group of a custom resource has a dot, and is none of k8s.io.
func plainNames(t *resources.Type) []string {
	group, _, _ := strings.Cut(t.Name, "/")
	if t.Family != resources.Kubernetes || strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io") {
		return nil
	}
	return []string{"key", "topologyKey"}
}
