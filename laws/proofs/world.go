package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// A side is the data and the rules of one commit.
type side struct {
	people   map[string]person // by path
	rooms    map[string]room
	scripts  map[string]string // by path
	queries  map[string]string // by path
	commands map[string]string // of programs
	schemas  map[string]string // schemas that programs may read: p, r, or pr
	argv     string
	notes    string // a field that the types have beside the others
	others   map[string]string
	strict   bool
}

type person struct{ name, mail, room, comment string }
type room struct{ name, desks, note, comment string }

// The programs of all scenes. Each has a query, or none.
var programs = []string{"mails", "seats", "desks", "notes", "script", "blind"}

// queryOf names the query of a program; "" if it declares none.
var queryOf = map[string]string{"mails": "mails", "seats": "seats", "desks": "desks", "notes": "notes",
	"script": "mails"}

// texts are the first texts of the queries.
var texts = map[string]string{
	"mails": "{people: people {name mail}}", "seats": "{people: people {name room {name}}}",
	"desks": "{rooms: rooms {name desks}}", "notes": "{rooms: rooms {name note}}",
}

// newSide makes the side that scenes begin with.
func newSide(r *rand.Rand) *side {
	s := &side{people: map[string]person{}, rooms: map[string]room{}, queries: map[string]string{},
		commands: map[string]string{}, schemas: map[string]string{}, scripts: map[string]string{"tools/run.sh": "echo 1\n"},
		argv: "run", others: map[string]string{"README.md": "read me\n"}, strict: r.IntN(2) == 0}
	for i := range 3 {
		s.rooms[fmt.Sprintf("data/rooms/%d.yml", i)] = room{name: fmt.Sprint("r", i), desks: fmt.Sprint(i), note: "n"}
	}
	for i := range 3 {
		s.people[fmt.Sprintf("data/people/%d.yml", i)] = person{name: fmt.Sprint("p", i), mail: fmt.Sprint("m", i),
			room: fmt.Sprintf("data/rooms/%d.yml", i%2)}
	}
	for name, text := range texts {
		s.queries["queries/"+name+".graphql"] = text + "\n"
	}
	for _, name := range programs {
		s.commands[name] = name
		s.schemas[name] = "pr"
	}
	s.schemas["blind"] = "p"
	return s
}

// clone returns a copy.
func (s *side) clone() *side {
	out := *s
	out.people, out.rooms, out.queries = maps.Clone(s.people), maps.Clone(s.rooms), maps.Clone(s.queries)
	out.commands, out.scripts, out.others = maps.Clone(s.commands), maps.Clone(s.scripts), maps.Clone(s.others)
	out.schemas = maps.Clone(s.schemas)
	return &out
}

// files returns the files of a side.
func (s *side) files() map[string]string {
	out := maps.Clone(s.others)
	maps.Copy(out, s.queries)
	maps.Copy(out, s.scripts)
	for path, p := range s.people {
		out[path] = fmt.Sprintf("---\n$schema: /person-1.yml\n%sname: %s\nmail: %s\nroom: {$ref: %s}\n", p.comment, p.name,
			p.mail, strings.TrimPrefix(p.room, "data"))
	}
	for path, r := range s.rooms {
		out[path] = fmt.Sprintf("---\n$schema: /room-1.yml\n%sname: %s\ndesks: '%s'\nnote: %s\n", r.comment, r.name, r.desks,
			r.note)
	}
	for name, command := range s.commands {
		var may []string
		if strings.Contains(s.schemas[name], "p") {
			may = append(may, "/person-1.yml")
		}
		if strings.Contains(s.schemas[name], "r") {
			may = append(may, "/room-1.yml")
		}
		out["data/checks/"+name+".yml"] = fmt.Sprintf("$schema: /app-sre/integration-1.yml\nname: %s\ndescription: %s\n"+
			"schemas: [%s]\npr_check: {cmd: %s}\n", name, name, strings.Join(may, ", "), command)
	}
	const property = "{type: string}"
	out["schemas/person-1.yml"] = "$schema: /meta-1.json\ntype: object\nproperties: {name: " + property + ", mail: " +
		property + ", room: {type: object}}\n"
	out["schemas/room-1.yml"] = "$schema: /meta-1.json\ntype: object\nproperties: {name: " + property + ", desks: " +
		property + ", note: " + property + "}\n"
	out["graphql-schemas/schema.yml"] = "$schema: /types-1.yml\nconfs:\n" +
		"- {name: Person_v1, datafile: /person-1.yml, fields: [{name: name, type: string}, {name: mail, type: string}, " +
		"{name: room, type: Room_v1}]}\n" +
		"- {name: Room_v1, datafile: /room-1.yml, fields: [{name: name, type: string}, {name: desks, type: string}, " +
		"{name: note, type: string}" + s.notes + "]}\n" +
		"- {name: Query, fields: [{name: people, type: Person_v1, isList: true, datafileSchema: /person-1.yml}, " +
		"{name: rooms, type: Room_v1, isList: true, datafileSchema: /room-1.yml}]}\n"
	out["resources/unused"] = "x\n"
	out["prcheck.yaml"] = s.settings()
	return out
}

// settings returns the settings of a side.
func (s *side) settings() string {
	out := "version: 1\nexec: {argv: [" + s.argv + ", \"{cmd}\", \"{shard_args}\"]}\nprograms: none\n"
	if s.strict {
		out += "schemas: strict\n"
	}
	out += "integrations:\n"
	for _, name := range programs {
		own := []string{"resources: none"}
		if q := queryOf[name]; q != "" {
			own = append(own, "queries: [queries/"+q+".graphql]")
		}
		if name == "script" {
			own = append(own, "programs: [\"tools/**\"]")
		}
		if name == "notes" {
			own = append(own, "shards: {by: [\"rooms[*].name\"], arg: --room}")
		}
		out += "  " + name + ": {" + strings.Join(own, ", ") + "}\n"
	}
	return out
}

// sees returns what a task sees of a side, by a plain walk. query is the text of its query, which others may edit.
func (s *side) sees(name, shard, query string) string {
	var out []string
	add := func(parts ...string) { out = append(out, strings.Join(parts, " ")) }
	switch name {
	case "mails", "script":
		for _, p := range s.people {
			add(p.name, p.mail)
		}
	case "seats":
		for _, p := range s.people {
			add(p.name, s.rooms[p.room].name)
		}
	case "desks":
		for _, r := range s.rooms {
			add(r.name, r.desks)
			if strings.Contains(query, "note") {
				add(r.note)
			}
		}
	case "notes":
		for _, r := range s.rooms {
			if shard == "" || r.name == shard {
				add(r.name, r.note)
			}
		}
	case "blind":
		for path, p := range s.people {
			add(path, p.name, p.mail, p.room, p.comment)
		}
		if !s.strict {
			for path, r := range s.rooms {
				add(path, r.name, r.desks, r.note, r.comment)
			}
			for _, other := range programs {
				add(other, s.commands[other], s.schemas[other])
			}
		}
	}
	if name == "script" {
		add(s.scripts["tools/run.sh"])
	}
	add(s.notes)
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// truth returns all that decides what a task does on a pair: what it sees of both sides, and the rules of the base.
func truth(base, head *side, name, shard string) string {
	rules := []string{base.argv, base.commands[name], base.schemas[name], head.commands[name], head.schemas[name],
		fmt.Sprint(base.strict)}
	query := ""
	if q := queryOf[name]; q != "" {
		query = base.queries["queries/"+q+".graphql"]
	}
	return strings.Join(append(rules, query), "|") + "\nBASE\n" + base.sees(name, shard, query) + "\nHEAD\n" +
		head.sees(name, shard, query)
}
