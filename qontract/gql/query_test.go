package gql_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// variables parses the variables of a request.
func variables(t testing.TB, text string) *bundle.Object {
	t.Helper()
	if text == "" {
		return nil
	}
	v, err := bundle.ParseValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o, _ := v.(*bundle.Object)
	return o
}

func TestVariables(t *testing.T) {
	e, _ := smallEngine(t)
	const authors = `authors(path:"/author/ana.yml",`
	for name, c := range map[string]struct{ query, variables, want string }{
		"a value":   {`query($n:String){authors(name:$n){age}}`, `{"n":"ana"}`, `{"authors":[{"age":30}]}`},
		"a default": {`query($n:String="ana"){authors(name:$n){age}}`, ``, `{"authors":[{"age":30}]}`},
		"null is a value": {`query($n:String="zed"){` + authors + `name:$n){age}}`, `{"n":null}`,
			`{"authors":[{"age":30}]}`},
		"none is no filter": {`query($n:String){` + authors + `name:$n){age}}`, ``, `{"authors":[{"age":30}]}`},
		"json": {`query($f:JSON){authors(filter:$f){age}}`, `{"f":{"name":"ana","age":30.0}}`,
			`{"authors":[{"age":30}]}`},
		"inside json": {`query($n:[String!]){authors(filter:{name:{in:$n}}){age}}`, `{"n":["ana"]}`,
			`{"authors":[{"age":30}]}`},
		"one for a list": {`query($n:[String!]){authors(filter:{name:{in:$n}}){age}}`, `{"n":"ana"}`,
			`{"authors":[{"age":30}]}`},
		"none inside json": {`query($n:String){authors(filter:{name:$n}){age}}`, ``, `{"authors":[]}`},
		"a condition": {`query($b:Boolean!){` + authors + `){name age @include(if:$b)}}`, `{"b":false}`,
			`{"authors":[{"name":"ana"}]}`},
		"an enumeration": {`query($k:__TypeKind=LIST){authors(filter:{name:$k}){age}}`, `{"k":"OBJECT"}`, `{"authors":[]}`},
		"missing": {`query($n:String!){authors(name:$n){age}}`, ``,
			`BAD_USER_INPUT Variable "$n" of required type "String!" was not provided.`},
		"null": {`query($n:String!){authors(name:$n){age}}`, `{"n":null}`,
			`BAD_USER_INPUT Variable "$n" of non-null type "String!" must not be null.`},
		"wrong": {`query($n:String){authors(name:$n){age}}`, `{"n":[{"a":{"b":{"c":1}}}]}`,
			`BAD_USER_INPUT Variable "$n" got invalid value [{ a: [Object] }]; String cannot represent a non string value: [{ a: [Object] }]`},
		"wrong in a list": {`query($n:[Int!]){authors(filter:{age:{in:$n}}){age}}`, `{"n":[1,2.5,null]}`,
			`BAD_USER_INPUT Variable "$n" got invalid value 2.5 at "n[1]"; Int cannot represent non-integer value: 2.5`},
		"not a flag": {`query($b:Boolean!){authors{age @skip(if:$b)}}`, `{"b":"yes"}`,
			`BAD_USER_INPUT Variable "$b" got invalid value "yes"; Boolean cannot represent a non boolean value: "yes"`},
		"not a float": {`query($x:Float){authors(filter:{age:$x}){age}}`, `{"x":1e999}`,
			`BAD_USER_INPUT Variable "$x" got invalid value Infinity; Float cannot represent non numeric value: Infinity`},
		"not in 32 bits": {`query($x:Int){authors(filter:{age:$x}){age}}`, `{"x":2147483648}`,
			`BAD_USER_INPUT Variable "$x" got invalid value 2147483648; Int cannot represent non 32-bit signed integer value: 2147483648`},
		"no such word": {`query($k:__TypeKind){authors(filter:{name:$k}){age}}`, `{"k":"X"}`,
			`BAD_USER_INPUT Variable "$k" got invalid value "X"; Value "X" does not exist in "__TypeKind" enum.`},
	} {
		t.Run(name, func(t *testing.T) {
			res := e.Answer(context.Background(), gql.Request{Query: c.query, Variables: variables(t, c.variables)})
			got := string(res.DataJSON())
			if res.Status != 200 {
				got = res.Errors[0].Code + " " + res.Errors[0].Message
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestRejections(t *testing.T) {
	_, s := smallEngine(t)
	for name, c := range map[string]struct {
		request gql.Request
		code    string
	}{
		"empty":             {gql.Request{}, gql.CodeRequest},
		"blank":             {gql.Request{Query: " # nothing"}, gql.CodeParse},
		"two operations":    {gql.Request{Query: "query A{books{title}} query B{books{title}}"}, gql.CodeOperation},
		"no such operation": {gql.Request{Query: "query A{books{title}}", Operation: "B"}, gql.CodeOperation},
		"broken text":       {gql.Request{Query: "{books(title:\"\xff\"){title}}"}, gql.CodeParse},
		"text after spread": {gql.Request{Query: `{books{... "on" Book_v1{title}}}`}, gql.CodeParse},
		"nothing described": {gql.Request{Query: `"" {books{title}}`}, gql.CodeParse},
		"an empty name":     {gql.Request{Query: "{books{title}}", EmptyName: true}, gql.CodeOperation},
		"a name of nothing": {gql.Request{Query: "query A{books{title}} query B{books{title}}", EmptyName: true},
			gql.CodeOperation},
		"variable of its own": {
			gql.Request{Query: `query($a:Boolean! @skip(if:$a)){books{title @skip(if:$a)}}`}, gql.CodeParse},
		"a zero in front":   {gql.Request{Query: `{books(filter:{title:01}){title}}`}, gql.CodeParse},
		"extension":         {gql.Request{Query: `extend type A{b:Int}`}, gql.CodeValidation},
		"conflict under it": {gql.Request{Query: `mutation{a:b a:c}`}, gql.CodeValidation},
		"a default that is wrong": {
			gql.Request{Query: `query($a:String={}){books(title:$a){title}}`}, gql.CodeValidation},
		"same conflict in fragments": {
			gql.Request{Query: `{books{...A ...B}} fragment A on Book_v1{x:title} fragment B on Book_v1{x:path}`},
			gql.CodeValidation},
		"arguments in conflict": {
			gql.Request{Query: `{books(title:"a"){title} books(title:"b"){title}}`}, gql.CodeValidation},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Compile(c.request)
			var rejection *gql.Rejection
			if !errors.As(err, &rejection) {
				t.Fatalf("got %v, want a rejection", err)
			}
			if rejection.Code != c.code || rejection.Message != rejection.Errors[0].Message {
				t.Errorf("got %s %q, want %s", rejection.Code, rejection.Message, c.code)
			}
		})
	}
}

func TestAccepted(t *testing.T) {
	e, _ := smallEngine(t)
	for name, c := range map[string]struct{ query, want string }{
		"same arguments": {
			`{a:books(filter:{title:"One",path:null}){title} a:books(filter:{path:null,title:"One"}){path}}`, `{"a":[]}`},
		"block string":        {"{authors(filter:{name:\"\"\"\n      ana\n    \"\"\"}){age}}", `{"authors":[{"age":30}]}`},
		"first line of block": {"{authors(filter:{tags:{in:[]},name:\"\"\"a\n  b\"\"\"}){age}}", `{"authors":[]}`},
		"quotes in block":     {`{a:authors(filter:{name:"""say \""" now"""}){age}}`, `{"a":[]}`},
		"escapes":             {`{authors(name:"\u0061\u{6E}a"){age}}`, `{"authors":[{"age":30}]}`},
		"a pair":              {`{authors(name:"\ud83d\ude00"){age}}`, `{"authors":[]}`},
		"comments and commas": {"{,authors(name:\"ana\",,),{age,}#x\n}", `{"authors":[{"age":30}]}`},
		"a byte order mark":   {"\ufeff{authors(name:\"ana\"){age}}", `{"authors":[{"age":30}]}`},
		"two types, one key": {`{authors(name:"ana"){awards{... on Gold_v1{x:weight} ... on Paper_v1{y:pages}}}}`,
			`{"authors":[{"awards":[{"x":1},{"y":["p1"]}]}]}`},
		"defaults in strings": {`query($a:String="x" $b:String="y"){authors(filter:{name:$a,age:$b}){age}}`,
			`{"authors":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			res := e.Answer(context.Background(), gql.Request{Query: c.query})
			if got := string(res.DataJSON()); res.Status != 200 || got != c.want {
				t.Errorf("got %d %s %v, want %s", res.Status, got, res.Errors, c.want)
			}
		})
	}
}

// repeat returns a text that consists of n numbered parts.
func repeat(n int, format string) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, strings.ReplaceAll(format, "NEXT", fmt.Sprint(i+1)), i)
	}
	return out.String()
}

// TestHostile checks that no query takes long to compile and to analyze.
func TestHostile(t *testing.T) {
	_, s := smallEngine(t)
	for name, query := range map[string]string{
		"one field":   `{authors{` + strings.Repeat("name ", 20_000) + `}}`,
		"one object":  `{authors{` + strings.Repeat("friends{name}", 8_000) + `}}`,
		"many keys":   `{` + repeat(8_000, "a%d:authors{name}") + `}`,
		"deep":        strings.Repeat("{authors", 100_000),
		"deep values": `{authors(filter:` + strings.Repeat("[", 50_000),
		"doubling": `{authors{...f0}}` +
			repeat(60, `fragment f%d on Author_v1{a:friends{...fNEXT} b:friends{...fNEXT}}`) + `fragment f60 on Author_v1{name}`,
		"doubling one key": `{authors{...f0}}` +
			repeat(60, `fragment f%d on Author_v1{friends{...fNEXT} friends{...fNEXT}}`) + `fragment f60 on Author_v1{name}`,
		"a long chain": `{authors{...f0}}` + repeat(5_000, `fragment f%d on Author_v1{...fNEXT}`) +
			`fragment f5000 on Author_v1{name}`,
		"many operations": repeat(3_000, `query q%d{authors{...f0}}`) + repeat(1_000, `fragment f%d on Author_v1{...fNEXT}`) +
			`fragment f1000 on Author_v1{name}`,
		"a cycle": `{authors{...f0}}` + repeat(2_000, `fragment f%d on Author_v1{friends{...fNEXT}}`) +
			`fragment f2000 on Author_v1{friends{...f0}}`,
		"big arguments": `{` + strings.Repeat(`authors(filter:{name:{in:[`+strings.Repeat(`1 `, 40)+`]}}){name}`, 1_000) +
			`}`,
		"many variables": `query(` + repeat(8_000, `$a%d:String `) + `){authors{name}}`,
		"comments":       strings.Repeat("#\n", 100_000) + `{authors{name}}`,
		"unknown fields": `{authors{` + repeat(20_000, "x%d ") + `}}`,
		"conflicts":      `{authors{` + repeat(12_000, "a:x%d ") + `}}`,
		"deep conflicts": `{` + strings.Repeat("authors{a:name a:age ", 900) + `name` + strings.Repeat("}", 901),
		"wide conflicts": `{` + strings.Repeat(`authors{friends{a:name b:age} friends{a:age b:name}}`, 1_500) + `}`,
		"crossed conflicts": `{authors{` + repeat(1_500, "...f%d ") + `}}` +
			repeat(1_500, `fragment f%d on Author_v1{friends{a:name b:age} ...fNEXT} `) +
			`fragment f1500 on Author_v1{friends{a:age}}`,
		"all cycles": `{authors{...f0}}` +
			repeat(250, `fragment f%d on Author_v1{`+repeat(20, "...f%d ")+`...fNEXT}`),
		"deep introspection": repeat(2_000, `{a%d:__schema{...t0}}`) +
			repeat(20, `fragment t%d on __Schema{...tNEXT ...tNEXT}`) + `fragment t20 on __Schema{types{name}}`,
		"long names": `{authors{name @` + strings.Repeat("x", 45_000) + `}} directive @` +
			strings.Repeat("y", 45_000) + ` on FIELD`,
		"misspelt long types": `query($a:` + strings.Repeat("x", 40_000) + `){authors{name}} type ` +
			strings.Repeat("xy", 20_000),
		"misspelt types": `query(` + repeat(90, `$a%d:`+strings.Repeat("a", 300)+"%[1]d ") + `){authors{name}} ` +
			repeat(100, "type b%d"+strings.Repeat("a", 300)+" "),
		"object fields": `{authors(filter:{` + repeat(10_000, "a%d:1 ") + `}){name}}`,
		"a long line":   `{authors{` + repeat(9_000, "n%d ") + `}} # ` + strings.Repeat("é", 10_000),
		"far away":      `{authors(name:"` + strings.Repeat("é", 30_000) + `"){` + repeat(200, "n%d ") + `}}`,
		"many uses": `query(` + repeat(3_000, "$a%d:Int ") + `){authors(filter:[` + repeat(3_000, "$a%d ") +
			`]){name}}`,
		"deep types":       `query($a:` + strings.Repeat("[", 50_000) + `){a}`,
		"deep definitions": `type A{a(b:Int=` + strings.Repeat("[", 50_000) + `):Int}`,
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			q, err := s.Compile(gql.Request{Query: query})
			if err == nil {
				q.Footprint()
			}
			if spent := time.Since(start); spent > 5*time.Second {
				t.Errorf("%d bytes took %v", len(query), spent)
			}
		})
	}
}

func TestContextEnds(t *testing.T) {
	e, s := smallEngine(t)
	q, err := s.Compile(gql.Request{Query: `{authors{name}}`})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	res := e.Execute(ctx, q)
	if res.Data != nil || len(res.Errors) != 1 || !strings.Contains(res.Errors[0].Message, "canceled") {
		t.Errorf("got %s", res.JSON())
	}
}

func TestRoots(t *testing.T) {
	_, s := smallEngine(t)
	q, err := s.Compile(gql.Request{Query: `{b:books{authors{name}} files{path} one_author{name} __typename __schema{queryType{name}} shelves{keeper{link{path}}}}`})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, r := range q.Roots() {
		got = append(got, fmt.Sprintf("%s %s %s %s %t", r.Key, r.Field, r.Kind, r.Schema, r.List))
		if key := q.Footprint().Children[i].Key; key != r.Key {
			t.Errorf("child %d is %s, want %s", i, key, r.Key)
		}
	}
	want := []string{"b books datafiles /book-1.yml true", "files files resources  true",
		"one_author one_author opaque /author-1.yml false",
		"__typename __typename constant  false", "__schema __schema constant  false",
		"shelves shelves datafiles /shelf-1.yml true"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got, want := q.Schemas(), []bundle.SchemaPath{"/author-1.yml", "/book-1.yml", "/shelf-1.yml"}; !slices.Equal(got,
		want) {
		t.Errorf("schemas: got %q, want %q", got, want)
	}
	types := []string{"Author_v1", "Book_v1", "DatafileObject_v1", "Query", "Resource_v1", "Shelf_v1", "SteelShelf_v1",
		"WoodShelf_v1"}
	for _, name := range types {
		if !slices.Contains(q.Types(), name) {
			t.Errorf("type %s is missing in %q", name, q.Types())
		}
	}
}

func TestCheckSelector(t *testing.T) {
	_, s := smallEngine(t)
	q, err := s.Compile(gql.Request{Query: `{a:authors{name notes mentor{age} awards{kind ... on Paper_v1{pages}}}}`})
	if err != nil {
		t.Fatal(err)
	}
	items, members := gql.Step{Kind: gql.StepItems}, gql.Step{Kind: gql.StepMembers}
	field := func(key string) gql.Step { return gql.Step{Key: key} }
	for name, c := range map[string]struct {
		steps []gql.Step
		want  string // of the error
	}{
		"a scalar":            {[]gql.Step{field("a"), items, field("name")}, ""},
		"below":               {[]gql.Step{field("a"), items, field("mentor"), field("age")}, ""},
		"of one of the types": {[]gql.Step{field("a"), items, field("awards"), items, field("pages"), items}, ""},
		"members":             {[]gql.Step{members, items, members, members}, ""},
		"no such key": {[]gql.Step{field("authors")},
			"step 1 (.authors) can never match: there is an object with a"},
		"a list is no object":  {[]gql.Step{field("a"), field("name")}, "step 2 (.name) can never match: there is a list"},
		"an object is no list": {[]gql.Step{items}, "step 1 ([*]) can never match: there is an object with a"},
		"a scalar has nothing": {[]gql.Step{field("a"), items, field("name"), field("x")},
			"step 4 (.x) can never match: there is a value of type String"},
		"json is no key": {[]gql.Step{field("a"), items, field("notes")},
			"the last step must lead to a string, number or boolean: there is a value of type JSON"},
		"an object is no key": {[]gql.Step{field("a"), items},
			"the last step must lead to a string, number or boolean: there is an object with name, notes, mentor, awards"},
		"nothing": {nil, "the last step must lead to a string, number or boolean: there is an object with a"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := q.CheckSelector(c.steps); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
