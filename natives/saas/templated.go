package saas

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/pyjson"

	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// maxExpanded is how long a parameter may become by templates, in bytes.
const maxExpanded = 1 << 20

// resolve sets the parameters of a target, and fills in templates in its parameters and in paths
// and fields of its secrets. On an error it returns a pointer below the target.
func (r *reader) resolve(t *Target, text *string) (string, error) {
	fields := r.fields[t.Namespace.Path]
	for i := range t.SecretParameters {
		secret := &t.SecretParameters[i].Secret
		var err error
		if secret.Path, err = expand(secret.Path, fields); err != nil {
			return fmt.Sprintf("/secretParameters/%d/secret/path", i), err
		}
		if secret.Field, err = expand(secret.Field, fields); err != nil {
			return fmt.Sprintf("/secretParameters/%d/secret/field", i), err
		}
	}
	if text == nil {
		return "", nil
	}
	parameters, err := readParameters(text)
	if err != nil {
		t.Parameters = text
		return "/parameters", err
	}
	for _, key := range parameters.Keys {
		old, isText := parameters.Values[key].(string)
		if !isText {
			continue
		}
		out, err := expand(old, fields)
		if err != nil {
			t.Parameters = text
			return jsonpointer.Append("/parameters", key), err
		}
		parameters.Set(key, out)
	}
	out := pyjson.Compact(parameters)
	t.Parameters = &out
	return "", nil
}

// expand fills in the templates {{{ resource.namespace.… }}} of a text. As the template language
// of qontract-reconcile does, it makes every line end a line feed and drops one at the end.
func expand(text string, fields map[string]any) (string, error) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	text = strings.TrimSuffix(text, "\n")
	var out strings.Builder
	for {
		at, open := firstOf(text, "{{{", "{{%", "{{#")
		if at < 0 {
			out.WriteString(text)
			break
		}
		out.WriteString(text[:at])
		switch open {
		case "{{%":
			return "", errors.New("a template may hold {{{ resource.namespace.… }}} alone: {{% … %}} is not supported")
		case "{{#":
			_, rest, ok := strings.Cut(text[at+3:], "#}}")
			if !ok {
				return "", errors.New("the comment {{# … #}} does not end")
			}
			text = rest
			continue
		}
		expression, rest, ok := strings.Cut(text[at+3:], "}}}")
		if !ok {
			return "", errors.New("the template {{{ … }}} does not end")
		}
		value, err := lookUp(strings.TrimSpace(expression), fields)
		if err != nil {
			return "", err
		}
		out.WriteString(value)
		if out.Len() > maxExpanded {
			return "", fmt.Errorf("it becomes longer than %d bytes", maxExpanded)
		}
		text = rest
	}
	return out.String(), nil
}

// firstOf returns where the first of some texts stands, and which one it is; -1 if there is none.
func firstOf(text string, of ...string) (int, string) {
	at, which := -1, ""
	for _, o := range of {
		if i := strings.Index(text, o); i >= 0 && (at < 0 || i < at) {
			at, which = i, o
		}
	}
	return at, which
}

// lookUp returns the value of an expression such as resource.namespace.cluster.name or
// resource.namespace.labels['team'] as a text.
func lookUp(expression string, fields map[string]any) (string, error) {
	names, err := splitNames(expression)
	if err != nil {
		return "", fmt.Errorf("the template {{{ %.100s }}}: %w", expression, err)
	}
	var at any = map[string]any{"resource": map[string]any{"namespace": fields}}
	for i, name := range names {
		if !hasField(at, name) {
			return "", fmt.Errorf("the template {{{ %.100s }}}: there is no %.100s", expression, strings.Join(names[:i+1], "."))
		}
		at = field(at, name)
	}
	switch at := at.(type) {
	case string:
		return at, nil
	case bool: // as Python writes it
		if at {
			return "True", nil
		}
		return "False", nil
	case nil:
		return "None", nil
	case fmt.Stringer:
		return pyjson.Number(at.String()), nil
	}
	return "", fmt.Errorf("the template {{{ %.100s }}} is no text", expression)
}

// hasField reports whether v is an object with a field.
func hasField(v any, name string) bool {
	switch v := v.(type) {
	case map[string]any:
		_, ok := v[name]
		return ok
	case *pyjson.Object:
		_, ok := v.Values[name]
		return ok
	}
	return false
}

// splitNames splits an expression of names with dots and brackets.
func splitNames(text string) ([]string, error) {
	var out []string
	for first := true; text != ""; first = false {
		if rest, isBracket := strings.CutPrefix(text, "["); isBracket && !first {
			name, behind, ok := strings.Cut(rest, "]")
			if !ok || len(name) < 2 || name[0] != '\'' && name[0] != '"' || name[len(name)-1] != name[0] {
				return nil, errors.New("a bracket must hold a name in quotes")
			}
			out, text = append(out, name[1:len(name)-1]), behind
			continue
		}
		if !first {
			var ok bool
			if text, ok = strings.CutPrefix(text, "."); !ok {
				return nil, fmt.Errorf("only names with dots and brackets are supported, got %s", strconv.Quote(text))
			}
		}
		n := strings.IndexFunc(text, func(c rune) bool { return !isNameRune(c) })
		if n < 0 {
			n = len(text)
		}
		if n == 0 {
			return nil, fmt.Errorf("only names with dots and brackets are supported, got %s", strconv.Quote(text))
		}
		out, text = append(out, text[:n]), text[n:]
	}
	if len(out) == 0 {
		return nil, errors.New("it is empty")
	}
	return out, nil
}

// isNameRune reports whether names of fields hold a character.
func isNameRune(c rune) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
