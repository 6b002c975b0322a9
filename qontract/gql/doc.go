// Package gql answers GraphQL queries over one bundle like qontract-server, and finds out
// from the text of a query what it can read.
//
// A [Schema] is made from the GraphQL types of a bundle. [Schema.Compile] validates a
// request and returns a [Query]. An [Engine] executes the query:
//
//	s, err := gql.NewSchema(b.GraphQL())
//	res := gql.New(b, s).Answer(ctx, gql.Request{Query: "{ apps_v1 { name } }"})
//
// # Answers
//
// An answer has the same bytes as the answer of qontract-server. This includes rejections:
// parser, validation and execution produce the errors of graphql-js 16, on which the server
// is built, with the same words, locations and order. The resolvers are those of the
// server:
//
//   - A field has the value of its key. A reference is replaced by its target. A list is
//     replaced by its targets if every item is a reference; otherwise it stays as it is.
//   - A missing key is null. An explicit null is an error.
//   - Items of lists are required: an error in one item makes the whole list null. After
//     an error in a required field, later fields of the same object are not read.
//   - An object without any key is left out of a list. So a list of the answer can be
//     shorter than the list of the data.
//   - A JSON scalar is a string in the answer. Its keys are in the order of JavaScript.
//   - extensions.schemas lists the schemas of the objects of which a field was read. It
//     depends on the data. [Query.Schemas] is a superset of it if the data fits its types.
//
// # Early exit
//
// Two parts of the package support early exit. [Query.Roots] and [Engine.Element] evaluate
// an answer item by item. [Query.Footprint] describes for every place of the query what is
// read there, whatever the data is, and [Position.Same] compares two versions of a file
// with it.
//
// # Differences from qontract-server
//
// These differences are deliberate:
//
//   - A request with the variable [ExactVariable] gets an error for a number that qontract-server
//     would answer as null.
//   - Properties that JavaScript objects inherit, such as "constructor" or the length of a
//     string, are not fields of the data and of filters.
//   - Only strings count as schemas, and as paths in references.
//   - Documents are limited: 60000 tokens, 1000 levels, 100000 fields after all fragments
//     are expanded, and the work to validate them. If comparing fields for conflicts
//     exceeds this work, only one conflict is reported. An answer with more than 50
//     million values is an error.
//   - A type name that occurs twice is an error. The server takes the last type.
//   - An explicit null on the way of a back reference leads nowhere. The server fails to
//     load the bundle.
//
// # Files
//
//	syntax      syntax_text.go syntax_lexer.go syntax_parser.go syntax_system.go syntax_ast.go
//	schema      schema.go schema_build.go schema_introspection.go
//	requests    request.go query.go
//	validation  validate.go validate_fields.go validate_values.go validate_conflict.go
//	            validate_conflict_linear.go
//	execution   execute.go execute_data.go execute_filter.go execute_values.go javascript.go response.go
//	footprint   footprint.go footprint_position.go footprint_selector.go
//	early exit  restrict.go
//	this page   doc.go
package gql
