package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
)

// assemble makes bundles of what came together.
func (l *loader) assemble() (*Bundles, error) {
	var made [2]*bundle.Bundle
	for side, word := range []string{"base", "head"} {
		raw, err := l.bytes(side)
		if err == nil {
			made[side], err = bundle.ParseWithSHA256(raw, l.sha[side], made[base])
		}
		if err != nil {
			return nil, fmt.Errorf("%s, as %s tells it: %w", word, l.client.server, err)
		}
	}
	for _, side := range l.sides {
		side.vague = l.vague
	}
	listed := map[bundle.Schema]bool{}
	for _, schemas := range l.roots {
		listed[schemas[base]], listed[schemas[head]] = true, true
	}
	return &Bundles{listed: listed, Base: made[base], Head: made[head], BaseSide: l.sides[base], HeadSide: l.sides[head], Datafiles: l.asked}, nil
}

// bytes writes one side as a bundle file.
func (l *loader) bytes(side int) ([]byte, error) {
	size := 0
	for _, p := range l.datafiles {
		if p != nil {
			size += len(p.raw[side])
		}
	}
	out := make([]byte, 0, size+size/8)
	var err error
	if out, err = section(append(out, `{"data":{`...), l.datafiles, side); err != nil {
		return nil, err
	}
	if out, err = section(append(out, `},"resources":{`...), l.resources, side); err != nil {
		return nil, err
	}
	out = gql.AppendJSON(append(out, `},"schemas":{},"graphql":`...), l.confs(side))
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

// section writes the files of one side in the order of a bundle.
func section(out []byte, files map[bundle.Path]*pair, side int) ([]byte, error) {
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

// Unproven says what a live server does not tell, one sentence each.
func (b *Bundles) Unproven() []string {
	return []string{
		"changes of JSON schemas are not seen: a server does not show them",
		"of the GraphQL types only what introspection and answers show is compared",
	}
}
