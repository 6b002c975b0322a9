package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// assemble makes bundles of the data that was read.
func (l *loader) assemble() (*Bundles, error) {
	var made [2]*bundle.Bundle
	for side, word := range []string{"base", "head"} {
		raw, err := l.bundleJSON(side)
		if err == nil {
			made[side], err = bundle.ParseWithSHA256(raw, l.sha[side], made[base])
		}
		if err != nil {
			return nil, fmt.Errorf("%s, as read from %s: %w", word, l.client.server, err)
		}
	}
	for _, side := range l.sides {
		side.vagueTypes = l.vagueTypes
	}
	listed := map[bundle.SchemaPath]bool{}
	for _, schemas := range l.roots {
		listed[schemas[base]], listed[schemas[head]] = true, true
	}
	return &Bundles{listed: listed, Base: made[base], Head: made[head], BaseSide: l.sides[base], HeadSide: l.sides[head],
		RequestedDatafiles: l.requestedDatafiles}, nil
}

// bundleJSON returns one side as the content of a bundle file.
func (l *loader) bundleJSON(side int) ([]byte, error) {
	size := 0
	for _, p := range l.datafiles {
		if p != nil {
			size += len(p.raw[side])
		}
	}
	out := make([]byte, 0, size+size/8)
	var err error
	if out, err = appendFiles(append(out, `{"data":{`...), l.datafiles, side); err != nil {
		return nil, err
	}
	if out, err = appendFiles(append(out, `},"resources":{`...), l.resources, side); err != nil {
		return nil, err
	}
	out = gql.AppendJSON(append(out, `},"schemas":{},"graphql":`...), l.describeTypes(side))
	for _, m := range []struct{ key, value string }{
		{"git_commit", l.commit[side].Commit}, {"git_commit_timestamp", l.commit[side].Timestamp},
	} {
		text, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		out = append(append(out, `,"`+m.key+`":`...), text...)
	}
	return append(out, '}'), nil
}

// appendFiles appends the files of one side, sorted by path, to a JSON object.
func appendFiles(out []byte, files map[bundle.Path]*filePair, side int) ([]byte, error) {
	first := true
	for _, p := range slices.Sorted(maps.Keys(files)) {
		if files[p] == nil || files[p].raw[side] == nil {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		name, err := json.Marshal(p)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), files[p].raw[side]...)
	}
	return out, nil
}

// Limitations returns the changes that a live server does not show, one sentence each.
func (b *Bundles) Limitations() []string {
	return []string{
		"changes of JSON schemas are not seen: a server does not show them",
		"of the GraphQL types only what introspection and answers show is compared",
	}
}
