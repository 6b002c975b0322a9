// Package validator checks a bundle before anything is planned on it, as
// qontract-validator does: every mistake, each with its place, its rule and what
// was found there.
//
//	report, err := validator.Check(ctx, head, validator.Options{Base: base, Scope: validator.Changed})
//	report.Locate(readFile)
//	report.WriteText(os.Stdout)
//
// The rules are those of qontract-validator, under its names:
//
//   - SCHEMA: a JSON schema file names a metaschema, fits it and the one of
//     Draft 6, and what it refers to exists.
//   - FILE: a datafile, a resource with $schema and the GraphQL types name a
//     schema that exists, and fit it.
//   - REF: what a $ref names exists and has a schema that $schemaRef allows,
//     and resources that are referred to exist.
//   - UNIQUE: fields with isUnique differ between all files, and those with
//     isContextUnique between the items of one list.
//   - GRAPHQL: the GraphQL types fit together and agree with the JSON schemas.
//
// What a user must know:
//
//   - JSON schemas have the meaning that python-jsonschema gives to Draft 6:
//     keywords beside $ref do not count, 1.0 is an integer, format is not
//     checked, and $ in a pattern matches before a last newline.
//   - Of a oneOf or anyOf in which nothing fits, the mistakes of the nearest
//     alternative are told.
//   - What is broken in a schema is a finding, and files are checked against the
//     rest of it.
//   - Schemas and data are untrusted. Patterns have a time limit, every file has
//     a number of steps, and only as many findings are kept as [Options] allows;
//     how many more there were is told.
//   - A JSON schema and a GraphQL type need not have the same fields, and in
//     real repositories they do not. Only a gap that base does not have is a
//     finding.
//   - With the scope [Changed] everything that the change broke is found:
//     Changed(head) holds whatever All(head) holds and All(base) does not.
package validator
