// Package validator checks a bundle before anything is planned on it, like
// qontract-validator. It reports all mistakes. Each finding has a place, the rule that is
// broken, and a message about the value at the place.
//
//	report, err := validator.Check(ctx, head, validator.Options{Base: base, Scope: validator.Changed})
//	report.Locate(head, readFile)
//	report.WriteText(os.Stdout, names)
//
// The rules have the names of qontract-validator:
//
//   - SCHEMA: a JSON schema file names a metaschema, it is valid for this metaschema and
//     for the one of Draft 6, and everything that it refers to exists.
//   - FILE: a datafile, a resource with $schema and the GraphQL types name a schema that
//     exists, and are valid for it.
//   - REF: the target of a $ref exists and has a schema that $schemaRef allows, and
//     resources that a file names exist.
//   - UNIQUE: fields with isUnique have different values in all files, and fields with
//     isContextUnique have different values in the items of one list.
//   - GRAPHQL: the GraphQL types fit together and agree with the JSON schemas.
//
// Facts that a user must know:
//
//   - JSON schemas are interpreted as python-jsonschema interprets Draft 6: keywords
//     beside $ref do not count, 1.0 is an integer, format is not checked, and $ in a
//     pattern also matches before a line break at the end.
//   - If no alternative of a oneOf or anyOf fits, the mistakes in the nearest alternative
//     are reported.
//   - A broken part of a schema is a finding. Files are checked against the rest of the
//     schema.
//   - Schemas and data are untrusted. Patterns have a time limit, the check of a file has
//     a limit of steps, and the report keeps only as many findings as [Options] allows. It
//     says how many more there were.
//   - A JSON schema and its GraphQL type need not have the same fields, and in real
//     repositories they do not. Only a gap that base does not have is a finding.
//   - With the scope [Changed] the check finds everything that the change broke: if
//     All(head) has a finding that All(base) does not have, Changed(head) has it too.
package validator
