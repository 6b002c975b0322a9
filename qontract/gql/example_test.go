package gql_test

import (
	"context"
	"fmt"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

const tiny = `{
	"data": {
		"/teams/a.yml": {"$schema": "/team-1.yml", "name": "a", "size": 3},
		"/teams/b.yml": {"$schema": "/team-1.yml", "name": "b", "parent": {"$ref": "/teams/a.yml"}}
	},
	"graphql": {"confs": [
		{"name": "Team_v1", "datafile": "/team-1.yml", "fields": [
			{"name": "name", "type": "string", "isSearchable": true},
			{"name": "size", "type": "int"},
			{"name": "parent", "type": "Team_v1"}]},
		{"name": "Query", "fields": [
			{"name": "teams_v1", "type": "Team_v1", "isList": true, "datafileSchema": "/team-1.yml"}]}
	]}
}`

func ExampleEngine_Answer() {
	b, err := bundle.Parse([]byte(tiny), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		fmt.Println(err)
		return
	}
	res := gql.New(b, s).Answer(context.Background(),
		gql.Request{Query: `{ teams_v1(name: "b") { name parent { size } } }`})
	fmt.Printf("%d %s\n", res.Status, res.JSON())
	// Output: 200 {"data":{"teams_v1":[{"name":"b","parent":{"size":3}}]},"extensions":{"schemas":["/team-1.yml"]}}
}

func ExampleQuery_Footprint() {
	b, err := bundle.Parse([]byte(tiny), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		fmt.Println(err)
		return
	}
	q, err := s.Compile(gql.Request{Query: `{ teams_v1 { name parent { size } } }`})
	if err != nil {
		fmt.Println(err)
		return
	}
	team := q.Footprint().Children[0].Pos
	fmt.Println(team.Leaves, team.Children[0].Key, team.Children[0].Pos.Leaves)
	// Output: [name] parent [size]
}
