// Package gql answers GraphQL queries over one bundle as qontract-server does,
// and tells from a query what it can read.
//
// A [Schema] is made from the GraphQL types of a bundle, [Schema.Compile]
// checks a request against it, and an [Engine] executes the [Query]:
//
//	s, err := gql.NewSchema(b.GraphQL())
//	res := gql.New(b, s).Answer(ctx, gql.Request{Query: "{ apps_v1 { name } }"})
//
// Answers are those of qontract-server byte for byte, rejections too: parser,
// rules and execution have the words, places and order of errors of graphql-js
// 16, which the server is built on. The parser is in parser.go and lexer.go, the
// rules begin in validate.go. The resolvers are those of the server:
//
//   - A field has the value of its key; a reference is replaced by its target,
//     and a list of nothing but references by their targets. One item that is
//     not a reference leaves the whole list as it is.
//   - A key that is missing is null, an explicit null is an error.
//   - Items of lists are required: one error makes the list null. What comes
//     after an error in a required field is not read.
//   - An object without any key is left out of a list, so a list of an answer
//     can be shorter than that of the data.
//   - A JSON scalar is a string in the answer, with its keys in the order of
//     JavaScript.
//   - extensions.schemas names the schemas of objects of which a field was
//     read; it depends on the data, and [Query.Schemas] is a superset of it as
//     long as the data fits its types.
//
// Early exit rests on two things. [Query.Roots] and [Engine.Element] evaluate
// an answer item by item. [Query.Footprint] tells for every place of the query
// what is read there, whatever the data; [Position.Same] compares two versions
// of a file with that.
//
// Where it differs from qontract-server on purpose:
//
//   - What JavaScript objects inherit ("constructor", the length of strings and
//     lists) is no field of data and of filters.
//   - Only strings count as schemas, and as the paths of references.
//   - Documents are bounded: 60000 tokens, 1000 levels, 100000 fields with all
//     fragments filled in, and the work to validate them; where fields conflict
//     in a document beyond that work, one conflict is reported, not all. An
//     answer of more than 50 million values is an error.
//   - A type name that occurs twice is an error, not a silent replacement.
//   - An explicit null on the way of a back reference leads nowhere. It stops
//     the server from loading the bundle.
package gql
