package kubetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// patch answers a patch of any type.
func (s *Server) patch(w http.ResponseWriter, r *http.Request, at place, raw []byte) {
	patched := patches[r.Header.Get("Content-Type")]
	old := s.objects[at.path]
	switch {
	case r.Header.Get("Content-Type") == "application/apply-patch+yaml":
		s.apply(w, r, at, raw)
		return
	case patched == nil:
		refuse(w, at, http.StatusUnsupportedMediaType, "UnsupportedMediaType",
			"the body of the request was in an unknown format", nil)
		return
	case old == nil:
		refuse(w, at, http.StatusNotFound, "NotFound", fmt.Sprintf("%s %q not found", at.resource, at.name), nil)
		return
	}
	m := s.model(at)
	next, err := patched(m, copyOf(old.body), raw)
	if invalid := (*stepError)(nil); errors.As(err, &invalid) {
		refuse(w, at, http.StatusUnprocessableEntity, "Invalid", err.Error(), nil)
		return
	}
	if err != nil {
		refuse(w, at, http.StatusBadRequest, "BadRequest", err.Error(), nil)
		return
	}
	if err := m.unknownFields(next); err != nil && isStrict(r) {
		message := fmt.Sprintf("Invalid value: %s: %v", strconv.Quote(string(encode(next))), err)
		refuse(w, at, http.StatusUnprocessableEntity, "Invalid", `"" is invalid: patch: `+message,
			[]any{map[string]any{"reason": "FieldValueInvalid", "message": message, "field": "patch"}})
		return
	}
	managed, has := mapOf(next["metadata"])["managedFields"]
	if next, err = m.complete(next); err == nil {
		if has {
			dig(next, "metadata")["managedFields"] = managed // an empty list removes all managers
		}
		next, err = m.update(old.body, keepStatus(next, old.body), managerOf(r))
	}
	if err != nil {
		fail(w, at, err)
		return
	}
	s.keep(w, r, at, next)
}

// patches are the types of patches that change an object which is there.
var patches = map[string]func(m *model, body map[string]any, patch []byte) (map[string]any, error){
	"application/merge-patch+json": func(_ *model, body map[string]any, patch []byte) (map[string]any, error) {
		change, err := decode(patch)
		if err == nil && change == nil {
			err = fmt.Errorf("the patch is no object")
		}
		return merge(body, change), err
	},
	"application/strategic-merge-patch+json": func(m *model, body map[string]any, patch []byte) (map[string]any, error) {
		of, err := types().New(m.gvk)
		if err != nil {
			return nil, err
		}
		raw, err := strategicpatch.StrategicMergePatch(encode(body), patch, of)
		if err != nil {
			return nil, err
		}
		return decode(raw)
	},
	"application/json-patch+json": func(_ *model, body map[string]any, patch []byte) (map[string]any, error) {
		var steps []patchStep
		if err := json.Unmarshal(patch, &steps); err != nil {
			return nil, err
		}
		all := map[string]any{"": body}
		for _, step := range steps {
			if err := step.do(all); err != nil {
				return nil, &stepError{err}
			}
		}
		return decode(encode(all[""]))
	},
}

// merge returns a body after a JSON merge patch.
func merge(body, patch map[string]any) map[string]any {
	if body == nil {
		body = map[string]any{}
	}
	for field, value := range patch {
		switch v := value.(type) {
		case nil:
			delete(body, field)
		case map[string]any:
			inner, _ := body[field].(map[string]any)
			body[field] = merge(inner, v)
		default:
			body[field] = v
		}
	}
	return body
}

// A stepError is a step of a JSON patch that cannot be taken.
type stepError struct{ error }

// A patchStep is one step of a JSON patch: add, remove, replace or test.
type patchStep struct {
	Op, Path string
	Value    any
}

// do takes a step in a body, which stands under the empty name.
func (p patchStep) do(all map[string]any) error {
	names := strings.Split(p.Path, "/")
	for i, n := range names {
		names[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(n)
	}
	next, err := p.in(all, names)
	if err == nil && next == nil {
		err = fmt.Errorf("%s removes the object", p.Path)
	}
	return err
}

// in takes the step below a value, and returns the value afterwards.
func (p patchStep) in(value any, names []string) (any, error) {
	name, wrong := names[0], fmt.Errorf("the server rejected our request due to an error in our request: %s %s", p.Op,
		p.Path)
	switch v := value.(type) {
	case map[string]any:
		old, has := v[name]
		if len(names) > 1 && has {
			next, err := p.in(old, names[1:])
			v[name] = next
			return v, err
		}
		if len(names) > 1 || !has && p.Op != "add" {
			return v, wrong
		}
		if p.Op == "remove" {
			delete(v, name)
			return v, nil
		}
		next, err := p.at(old)
		v[name] = next
		return v, err
	case []any:
		return p.inList(v, names)
	}
	return value, wrong
}

// inList takes the step below a list.
func (p patchStep) inList(list []any, names []string) (any, error) {
	i, err := strconv.Atoi(names[0])
	if names[0] == "-" && len(names) == 1 && p.Op == "add" {
		return append(list, p.Value), nil
	}
	isNew := len(names) == 1 && p.Op == "add"
	if err != nil || i < 0 || i > len(list) || i == len(list) && !isNew {
		return list, fmt.Errorf("%s is outside of its list", p.Path)
	}
	switch {
	case isNew:
		return append(list[:i:i], append([]any{p.Value}, list[i:]...)...), nil
	case len(names) > 1:
		list[i], err = p.in(list[i], names[1:])
	case p.Op == "remove":
		return append(list[:i:i], list[i+1:]...), nil
	default:
		list[i], err = p.at(list[i])
	}
	return list, err
}

// at returns what a value becomes that the step names.
func (p patchStep) at(old any) (any, error) {
	switch p.Op {
	case "add", "replace":
		return p.Value, nil
	case "test":
		if string(encode(old)) == string(encode(p.Value)) {
			return old, nil
		}
		return old, fmt.Errorf("testing value %s failed", p.Path)
	}
	return old, fmt.Errorf("%q is no step that this server knows", p.Op)
}
