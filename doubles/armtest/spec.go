package armtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// verbs are those of addresses that the server looks at.
var verbs = []string{"get", "put", "patch", "post", "delete", "head"}

// An address is a path of a specification.
type address struct {
	parts    []string // in lower case; those in braces stand for any name
	kind     string   // the type, in lower case; for ARM Provider/type/sub
	verbs    []string
	versions []string // api-versions that have it; none: the address has no version
}

// read adds the addresses of a specification.
func (s *Server) read(raw []byte) error {
	var document struct {
		Info     struct{ Version string }
		BasePath string
		Paths    map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		return fmt.Errorf("reading a specification: %w", err)
	}
	for path, item := range document.Paths {
		path = strings.TrimSuffix(document.BasePath, "/") + path
		a := &address{parts: split(path), kind: kindOf(split(path))}
		if known := s.find(a.parts); known != nil {
			a = known
		} else {
			s.addresses = append(s.addresses, a)
		}
		for _, verb := range verbs {
			if _, there := item[verb]; there && !slices.Contains(a.verbs, verb) {
				a.verbs = append(a.verbs, verb)
			}
		}
		if strings.Contains(path, "/providers/") {
			a.versions = append(a.versions, document.Info.Version)
		}
	}
	return nil
}

// split returns the parts of a path in lower case. Names of parameters do not count.
func split(path string) []string {
	parts := strings.Split(strings.ToLower(strings.Trim(path, "/")), "/")
	for i, p := range parts {
		if strings.HasPrefix(p, "{") {
			parts[i] = "{}"
		}
	}
	return parts
}

// kindOf returns the type that stands in the parts of an address.
func kindOf(parts []string) string {
	from := len(parts) - 1
	for from >= 0 && parts[from] != "providers" {
		from--
	}
	if from < 0 || from+1 >= len(parts) {
		return strings.Join(slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == "{}" }), "/")
	}
	out := []string{parts[from+1]}
	for i := from + 2; i < len(parts); i += 2 {
		out = append(out, parts[i])
	}
	return strings.Join(out, "/")
}

// find returns the address with exactly these parts.
func (s *Server) find(parts []string) *address {
	for _, a := range s.addresses {
		if slices.Equal(a.parts, parts) {
			return a
		}
	}
	return nil
}

// match returns the address of the parts of a request. Fixed parts win over names.
func (s *Server) match(parts []string) *address {
	var best *address
	for _, a := range s.addresses {
		if a.fits(parts) && (best == nil || fixed(a) > fixed(best)) {
			best = a
		}
	}
	return best
}

func (a *address) fits(parts []string) bool {
	if len(a.parts) != len(parts) {
		return false
	}
	for i, p := range a.parts {
		if p != "{}" && p != strings.ToLower(parts[i]) {
			return false
		}
	}
	return true
}

func fixed(a *address) (n int) {
	for _, p := range a.parts {
		if p != "{}" {
			n++
		}
	}
	return n
}

func (a *address) has(verb string) bool { return slices.Contains(a.verbs, verb) }

// isItem reports whether an address is that of a resource.
func (a *address) isItem() bool { return a.has("get") && (a.has("put") || a.has("delete")) }

// last returns the last part of an address.
func (a *address) last() string { return a.parts[len(a.parts)-1] }

// items returns the address of the items of a collection, nil if it is none.
func (s *Server) items(a *address) *address {
	item := s.find(append(slices.Clone(a.parts), "{}"))
	if item == nil || !item.isItem() {
		return nil
	}
	return item
}
