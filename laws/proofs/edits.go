package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// An edit changes a side. It is kept as a function, so that it can be done on another side as well.
type edit struct {
	name string
	do   func(*side)
}

// newEdit makes an edit that fits a side. Edits of rules are of others alone: tasks whose rules head edits never hold.
func newEdit(r *rand.Rand, s *side, isMine bool) edit {
	who := pick(r, slices.Sorted(maps.Keys(s.people)))
	at := pick(r, slices.Sorted(maps.Keys(s.rooms)))
	value := fmt.Sprint("v", r.IntN(1000))
	data := []edit{
		{"mail " + who, func(s *side) { alter(s.people, who, func(p *person) { p.mail = value }) }},
		{"name " + who, func(s *side) { alter(s.people, who, func(p *person) { p.name = value }) }},
		{"move " + who, func(s *side) { alter(s.people, who, func(p *person) { p.room = at }) }},
		{"comment " + who, func(s *side) { alter(s.people, who, func(p *person) { p.comment = "# " + value + "\n" }) }},
		{"desks " + at, func(s *side) { alter(s.rooms, at, func(r *room) { r.desks = value }) }},
		{"note " + at, func(s *side) { alter(s.rooms, at, func(r *room) { r.note = value }) }},
		{"comment " + at, func(s *side) { alter(s.rooms, at, func(r *room) { r.comment = "# " + value + "\n" }) }},
		{"new room", func(s *side) { s.rooms["data/rooms/"+value+".yml"] = room{name: value, desks: "1", note: "n"} }},
		{"new person", func(s *side) {
			s.people["data/people/"+value+".yml"] = person{name: value, mail: value, room: "data/rooms/0.yml"}
		}},
		{"no " + who, func(s *side) {
			if len(s.people) > 1 {
				delete(s.people, who)
			}
		}},
		{"readme", func(s *side) { s.others["README.md"] = value + "\n" }},
	}
	if isMine || r.IntN(3) > 0 {
		return pick(r, data)
	}
	name, may := pick(r, programs), pick(r, []string{"p", "r", "pr"})
	return pick(r, []edit{
		{"script", func(s *side) { s.scripts["tools/run.sh"] = "echo " + value + "\n" }},
		{"command " + name, func(s *side) { s.commands[name] = name + " --" + value }},
		{"schemas " + name, func(s *side) { s.schemas[name] = may }},
		{"argv", func(s *side) { s.argv = value }},
		{"query", func(s *side) { s.queries["queries/desks.graphql"] = "{rooms: rooms {name desks note}}\n" }},
		{"types", func(s *side) { s.notes = ", {name: " + value + ", type: string}" }},
	})
}

// alter changes an entry, if it is there.
func alter[V any](all map[string]V, key string, do func(*V)) {
	if v, ok := all[key]; ok {
		do(&v)
		all[key] = v
	}
}

func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }
