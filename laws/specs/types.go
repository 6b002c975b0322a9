package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A kind is a resource type at one address.
type kind struct {
	*book
	file, path string
	name       string // with the version
	id         string // of its resource
	get, put   schema
	patch      schema
	hasPatch   bool
	hasDelete  bool
}

// kinds returns the types of ARM of all documents. Those of which the name cannot be read are left out, with the
// reason.
func (b *book) kinds() (out []*kind, left map[string]string) {
	left = map[string]string{}
	for _, file := range b.names() {
		paths := asObject(b.docs[file]["paths"])
		for _, at := range slices.Sorted(maps.Keys(paths)) {
			item, _ := b.follow(ref{file, "", asObject(paths[at])})
			if item.of["get"] == nil || item.of["put"] == nil || !strings.Contains(strings.ToLower(at), "/providers/") {
				continue
			}
			k, why := b.kind(file, at, item)
			if why != "" {
				left[file+" "+at] = why
				continue
			}
			out = append(out, k)
		}
	}
	return out, left
}

func (b *book) kind(file, at string, item ref) (*kind, string) {
	k := &kind{book: b, file: file, path: at, hasDelete: item.of["delete"] != nil}
	get, put := ref{item.file, "", asObject(item.of["get"])}, ref{item.file, "", asObject(item.of["put"])}
	for _, status := range []string{"200", "201"} {
		answer, _ := b.follow(ref{get.file, "", asObject(asObject(get.of["responses"])[status])})
		if s, ok := answer.of["schema"].(object); ok {
			k.get = b.schema(ref{answer.file, "", s})
			break
		}
	}
	k.put = b.body(item, put)
	if patch := asObject(item.of["patch"]); patch != nil {
		k.hasPatch, k.patch = true, b.body(item, ref{item.file, "", patch})
	}
	if !k.put.is() || len(k.put.names()) == 0 {
		return nil, "PUT describes no property"
	}
	names, why := b.fill(item, put, at)
	if why != "" {
		return nil, why
	}
	k.id = names
	parts := strings.Split(strings.Trim(names, "/"), "/")
	i := len(parts) - 1
	for ; i >= 0 && !strings.EqualFold(parts[i], "providers"); i-- {
	}
	if i+2 >= len(parts) {
		return nil, "its address has no type"
	}
	segments := []string{parts[i+1]}
	for j := i + 2; j < len(parts); j += 2 {
		segments = append(segments, parts[j])
	}
	k.name = strings.Join(segments, "/") + "@" + text(asObject(b.docs[file]["info"])["version"])
	return k, ""
}

// parameters returns the parameters of an operation and of its address.
func (b *book) parameters(item, operation ref) []ref {
	var out []ref
	for _, from := range []ref{operation, item} {
		for _, p := range list(from.of["parameters"]) {
			if end, ok := b.follow(ref{from.file, "", asObject(p)}); ok {
				out = append(out, end)
			}
		}
	}
	return out
}

func (b *book) body(item, operation ref) schema {
	for _, p := range b.parameters(item, operation) {
		if p.of["in"] == "body" {
			return b.schema(ref{p.file, "", asObject(p.of["schema"])})
		}
	}
	return schema{b, nil}
}

// fill returns an address with a name for each parameter.
func (b *book) fill(item, operation ref, at string) (string, string) {
	parts := strings.Split(at, "/")
	for i, part := range parts {
		if !strings.HasPrefix(part, "{") {
			if strings.Contains(part, "{") || strings.Contains(part, "(") {
				return "", "a part of its address is partly a parameter"
			}
			continue
		}
		name := strings.Trim(part, "{}")
		parts[i] = fmt.Sprintf("n%d", i)
		if i == 1 {
			if i < len(parts)-1 {
				return "", "its scope is a parameter"
			}
		}
		for _, p := range b.parameters(item, operation) {
			if p.of["in"] == "path" && text(p.of["name"]) == name {
				if values := list(p.of["enum"]); len(values) > 0 {
					parts[i] = text(values[0])
				}
			}
		}
	}
	return strings.Join(parts, "/"), ""
}
