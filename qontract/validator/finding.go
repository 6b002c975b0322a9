package validator

import (
	"cmp"
	"slices"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// A Section is the part of a bundle to which a file belongs.
type Section string

// The sections. GraphQL has a single file, whose path is "".
const (
	Data      Section = "data"
	Resources Section = "resources"
	Schemas   Section = "schemas"
	GraphQL   Section = "graphql"
)

// A Rule identifies the rule that is broken. It consists of the kind and the reason that
// qontract-validator writes.
type Rule string

// The rules. qontract-validator does not have the rules that begin with GRAPHQL.
const (
	SchemaNoMetaschema   Rule = "SCHEMA/MISSING_SCHEMA_URL"
	SchemaMetaschemaGone Rule = "SCHEMA/META_SCHEMA_NOT_FOUND"
	SchemaInvalid        Rule = "SCHEMA/VALIDATION_ERROR"
	SchemaBroken         Rule = "SCHEMA/SCHEMA_ERROR"
	UniqueComplex        Rule = "SCHEMA/IS_UNIQUE_ON_COMPLEX_FIELD"
	UniqueNotTop         Rule = "SCHEMA/IS_UNIQUE_ON_NON_TOP_LEVEL_TYPE"
	FileNoSchema         Rule = "FILE/MISSING_SCHEMA_URL"
	FileSchemaGone       Rule = "FILE/SCHEMA_NOT_FOUND"
	FileInvalid          Rule = "FILE/VALIDATION_ERROR"
	RefGone              Rule = "REF/FILE_NOT_FOUND"
	RefWrongSchema       Rule = "REF/INCORRECT_SCHEMA"
	RefInvalid           Rule = "REF/SCHEMA_REF_VALIDATION_ERROR"
	ResourceGone         Rule = "REF/RESOURCE_FILE_NOT_FOUND"
	Duplicate            Rule = "UNIQUE/DUPLICATE_UNIQUE_FIELD"
	ContextDuplicate     Rule = "UNIQUE/DUPLICATE_CONTEXT_UNIQUE_FIELD"
	GraphQLType          Rule = "GRAPHQL/UNKNOWN_TYPE"
	GraphQLRepeated      Rule = "GRAPHQL/REPEATED"
	GraphQLSchema        Rule = "GRAPHQL/SCHEMA_NOT_FOUND"
	GraphQLInterface     Rule = "GRAPHQL/INTERFACE"
	GraphQLInvalid       Rule = "GRAPHQL/INVALID"
	GraphQLKind          Rule = "GRAPHQL/TYPE_MISMATCH"
	GraphQLNoProperty    Rule = "GRAPHQL/NO_PROPERTY"
	GraphQLNoField       Rule = "GRAPHQL/NO_FIELD"
)

// A Finding is one mistake.
type Finding struct {
	Section Section
	Path    bundle.Path // path of the file in its section; "" for the GraphQL types
	Pointer string      // JSON pointer (RFC 6901) to the place in the file
	Rule    Rule
	Message string // untrusted text: it quotes the bundle
	Line    int    // line in the text of the file, from 1; 0 if it is not known
	Column  int    // column in characters, from 1
}

// compareFindings orders findings by section, path, place, rule and message.
func compareFindings(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(a.Section.sortIndex(), b.Section.sortIndex()),
		cmp.Compare(a.Path, b.Path),
		comparePointers(a.Pointer, b.Pointer),
		cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Message, b.Message),
	)
}

// sortIndex returns the position of the section in a report.
func (s Section) sortIndex() int {
	return slices.Index([]Section{Schemas, GraphQL, Data, Resources}, s)
}

// A Report is the result of a check.
type Report struct {
	Scope    Scope
	Findings []Finding // sorted by section, path, place and rule, without repetition
	More     int       // number of findings that exceeded the limit and were left out
}

// newReport sorts the findings, removes repeated ones, and keeps the first of them up to
// the limit.
func newReport(scope Scope, all []Finding, limit int) *Report {
	slices.SortFunc(all, compareFindings)
	all = slices.Compact(all)
	r := &Report{Scope: scope, Findings: all}
	if len(all) > limit {
		r.Findings, r.More = all[:limit:limit], len(all)-limit
	}
	return r
}
