package validator_test

import (
	"slices"
	"testing"

	"github.com/app-sre/prcheck/qontract/validator"
)

const (
	lamp     = "data/products/lamp.yml"
	desk     = "data/products/desk.yml"
	supplier = "data/suppliers/northlight.yml"
	product  = "schemas/shop/product-1.yml"
	part     = "schemas/shop/part-1.yml"
	common   = "schemas/common-1.json"
)

type mistake struct {
	name  string
	edits [][3]string
	want  []string
}

// one returns a mistake that consists of a single edit.
func one(name, file, old, text string, want ...string) mistake {
	return mistake{name, [][3]string{{file, old, text}}, want}
}

func (m mistake) test(t *testing.T, clean tree) {
	t.Helper()
	t.Run(m.name, func(t *testing.T) {
		got := clean.edit(t, m.edits...).check(t, validator.Options{Base: clean.bundle(t), Scope: validator.All})
		if !slices.Equal(got, m.want) {
			t.Errorf("got:")
			for _, g := range got {
				t.Errorf("  %q,", g)
			}
			t.Errorf("want %q", m.want)
		}
	})
}

func TestCleanTree(t *testing.T) {
	if got := smallTree(t).check(t, validator.Options{Scope: validator.All}); got != nil {
		t.Errorf("got %q in a clean tree", got)
	}
}

func TestMistakesInData(t *testing.T) {
	clean := smallTree(t)
	for _, m := range []mistake{
		one("wrong type", lamp, "price: 49.5", "price: cheap",
			`data/products/lamp.yml:4:1: FILE/VALIDATION_ERROR: /price: got string, want number`),
		one("fraction for an integer", lamp, "pieces: 4.0", "pieces: 4.5",
			`data/products/lamp.yml:5:1: FILE/VALIDATION_ERROR: /pieces: got number, want integer`),
		one("list for a string", lamp, "name: lamp", "name: [lamp]",
			`data/products/lamp.yml:3:1: FILE/VALIDATION_ERROR: /name: got array, want string`),
		one("null", desk, "name: desk", "name:",
			`data/products/desk.yml:2:1: FILE/VALIDATION_ERROR: /name: got null, want string`),
		one("too small", lamp, "price: 49.5", "price: -1",
			`data/products/lamp.yml:4:1: FILE/VALIDATION_ERROR: /price: -1 must be at least 0`),
		one("too large", lamp, "price: 49.5", "price: 1000",
			`data/products/lamp.yml:4:1: FILE/VALIDATION_ERROR: /price: 1000 must be less than 1000`),
		one("pattern", desk, "name: desk", "name: Desk",
			`data/products/desk.yml:2:1: FILE/VALIDATION_ERROR: /name: "Desk" does not match the pattern "^[a-z][a-z0-9-]*$"`),
		one("pattern with look-behind", supplier, "https://northlight.example", "https://northlight.example/",
			`data/suppliers/northlight.yml:5:1: FILE/VALIDATION_ERROR: /url: "https://northlight.example/" does not match the pattern "^https://.+(?<!/)$"`),
		one("too long", desk, "name: desk", "name: desk-of-a-very-very-long-name",
			`data/products/desk.yml:2:1: FILE/VALIDATION_ERROR: /name: has 29 characters, may have at most 20`),
		one("too short", desk, "tags: [home]", "tags: [home, x]",
			`data/products/desk.yml:3:14: FILE/VALIDATION_ERROR: /tags/1: has 1 characters, needs at least 2`),
		one("too many items", desk, "tags: [home]", "tags: [aa, bb, cc, dd]",
			`data/products/desk.yml:3:1: FILE/VALIDATION_ERROR: /tags: has 4 items, may have at most 3`),
		one("too few items", supplier, "products:\n- $ref: /products/lamp.yml\n- $ref: /products/desk.yml", "products: []",
			`data/suppliers/northlight.yml:6:1: FILE/VALIDATION_ERROR: /products: has 0 items, needs at least 1`),
		one("equal items", desk, "tags: [home]", "tags: [home, home]",
			`data/products/desk.yml:3:1: FILE/VALIDATION_ERROR: /tags: the items 0 and 1 are equal`),
		one("unknown key", desk, "tags: [home]", "tags: [home]\ncolour: red",
			`data/products/desk.yml:4:1: FILE/VALIDATION_ERROR: /colour: the key "colour" is not allowed`),
		one("misspelt key", lamp, "manual: /man", "manuel: /man",
			`data/products/lamp.yml:6:1: FILE/VALIDATION_ERROR: /manuel: the key "manuel" is not allowed; is "manual" meant?`),
		one("missing key", desk, "name: desk\n", "",
			`data/products/desk.yml:1:1: FILE/VALIDATION_ERROR: the key "name" is missing`),
		one("missing key further down", lamp, "  length: 20\n", "",
			`data/products/lamp.yml:12:3: FILE/VALIDATION_ERROR: /parts/0: the key "length" is missing`),
		one("missing key that another needs", lamp, "pieces: 4.0\n", "",
			`data/products/lamp.yml:2:1: FILE/VALIDATION_ERROR: the key "pieces" is missing, which "price" needs`),
		one("name of a key", lamp, "  room: desk", "  Room: desk",
			`data/products/lamp.yml:9:3: FILE/VALIDATION_ERROR: /labels/Room: "Room" does not match the pattern "^[a-z]+$"`),
		one("value by pattern of the key", lamp, "  xlarge: 1", "  xlarge: one",
			`data/products/lamp.yml:10:3: FILE/VALIDATION_ERROR: /labels/xlarge: got string, want integer`),
		one("value of any other key", lamp, "  room: desk", "  room: 1",
			`data/products/lamp.yml:9:3: FILE/VALIDATION_ERROR: /labels/room: got integer, want string`),
		one("unknown alternative", lamp, "kind: screw", "kind: nail",
			`data/products/lamp.yml:12:3: FILE/VALIDATION_ERROR: /parts/0/kind: "nail" is not one of "screw", "shade"`),
		one("mistake in an alternative", lamp, "length: 20", "length: long",
			`data/products/lamp.yml:14:3: FILE/VALIDATION_ERROR: /parts/0/length: got string, want integer`),
		one("no multiple", lamp, "length: 20", "length: 21",
			`data/products/lamp.yml:14:3: FILE/VALIDATION_ERROR: /parts/0/length: 21 must be a multiple of 5`),
		one("excluded value", lamp, "color: white", "color: beige",
			`data/products/lamp.yml:18:3: FILE/VALIDATION_ERROR: /parts/1/color: the schema excludes this value (keyword "not")`),
		one("no $schema", desk, "$schema: /shop/product-1.yml\n", "",
			`data/products/desk.yml:1:1: FILE/MISSING_SCHEMA_URL: the key $schema is missing: it names the schema of the file`),
		one("unknown $schema", desk, "/shop/product-1.yml", "/shop/product-9.yml",
			`data/products/desk.yml:1:1: FILE/SCHEMA_NOT_FOUND: /$schema: "/shop/product-9.yml" is not the path of a schema`,
			`data/products/lamp.yml:21:3: REF/SCHEMA_REF_VALIDATION_ERROR: /related/$ref: "/products/desk.yml": /$schema: "/shop/product-9.yml" is not one of "/shop/product-1.yml", "/shop/supplier-1.yml"; is "/shop/product-1.yml" meant?`,
			`data/suppliers/northlight.yml:8:3: REF/INCORRECT_SCHEMA: /products/1/$ref: "/products/desk.yml" has the schema "/shop/product-9.yml", want "/shop/product-1.yml"`),
		one("another $schema", desk, "/shop/product-1.yml", "/shop/supplier-1.yml",
			`data/products/desk.yml:3:1: FILE/VALIDATION_ERROR: /tags: the key "tags" is not allowed`,
			`data/suppliers/northlight.yml:8:3: REF/INCORRECT_SCHEMA: /products/1/$ref: "/products/desk.yml" has the schema "/shop/supplier-1.yml", want "/shop/product-1.yml"`),
		one("reference to nothing", supplier, "/products/desk.yml", "/products/dask.yml",
			`data/suppliers/northlight.yml:8:3: REF/FILE_NOT_FOUND: /products/1/$ref: "/products/dask.yml" is not the path of a datafile`),
		one("target is gone", desk, "", "",
			`data/products/lamp.yml:21:3: REF/FILE_NOT_FOUND: /related/$ref: "/products/desk.yml" is not the path of a datafile`,
			`data/suppliers/northlight.yml:8:3: REF/FILE_NOT_FOUND: /products/1/$ref: "/products/desk.yml" is not the path of a datafile`),
		one("wrong kind of target", supplier, "/products/desk.yml", "/suppliers/northlight.yml",
			`data/suppliers/northlight.yml:8:3: REF/INCORRECT_SCHEMA: /products/1/$ref: "/suppliers/northlight.yml" has the schema "/shop/supplier-1.yml", want "/shop/product-1.yml"`),
		{"wrong kind of target by a schema", [][3]string{
			{"data/note.yml", "", "$schema: /shop/note-1.yml\ntext: hello\n"},
			{lamp, "$ref: /products/desk.yml", "$ref: /note.yml"},
		},
			[]string{`data/products/lamp.yml:21:3: REF/SCHEMA_REF_VALIDATION_ERROR: /related/$ref: "/note.yml": /$schema: "/shop/note-1.yml" is not one of "/shop/product-1.yml", "/shop/supplier-1.yml"`}},
		one("no resource", lamp, "/manuals/lamp.md", "/manuals/lump.md",
			`data/products/lamp.yml:6:1: REF/RESOURCE_FILE_NOT_FOUND: /manual: "/manuals/lump.md" is not the path of a resource`),
		one("no resource in an alternative", lamp, "/drawings/shade.txt", "/drawings/shape.txt",
			`data/products/lamp.yml:19:3: REF/RESOURCE_FILE_NOT_FOUND: /parts/1/drawing: "/drawings/shape.txt" is not the path of a resource`),
		one("resource is gone", "resources/manuals/lamp.md", "", "",
			`data/products/lamp.yml:6:1: REF/RESOURCE_FILE_NOT_FOUND: /manual: "/manuals/lamp.md" is not the path of a resource`),
		one("repeated name", desk, "name: desk", "name: lamp",
			`data/products/desk.yml:2:1: UNIQUE/DUPLICATE_UNIQUE_FIELD: /name: the value "lamp" of the field name is repeated: /products/desk.yml, /products/lamp.yml`,
			`data/products/lamp.yml:3:1: UNIQUE/DUPLICATE_UNIQUE_FIELD: /name: the value "lamp" of the field name is repeated: /products/desk.yml, /products/lamp.yml`,
			`data/suppliers/northlight.yml:7:3: UNIQUE/DUPLICATE_CONTEXT_UNIQUE_FIELD: /products/0: the items 0, 1 have the same name`,
			`data/suppliers/northlight.yml:8:3: UNIQUE/DUPLICATE_CONTEXT_UNIQUE_FIELD: /products/1: the items 0, 1 have the same name`),
		one("repeated name in a list", lamp, "parts:\n", "parts:\n- {kind: screw, name: m4, length: 5}\n",
			`data/products/lamp.yml:12:3: UNIQUE/DUPLICATE_CONTEXT_UNIQUE_FIELD: /parts/0: the items 0, 1 have the same name`,
			`data/products/lamp.yml:13:3: UNIQUE/DUPLICATE_CONTEXT_UNIQUE_FIELD: /parts/1: the items 0, 1 have the same name`),
		one("repeated reference in a list", supplier, "/products/desk.yml", "/products/lamp.yml",
			`data/suppliers/northlight.yml:7:3: UNIQUE/DUPLICATE_CONTEXT_UNIQUE_FIELD: /products/0: the items 0, 1 have the same name`,
			`data/suppliers/northlight.yml:8:3: UNIQUE/DUPLICATE_CONTEXT_UNIQUE_FIELD: /products/1: the items 0, 1 have the same name`),
		one("resource of a schema", "resources/notes/hello.yml", "text: hello", "text: [hello]",
			`resources/notes/hello.yml:3:1: FILE/VALIDATION_ERROR: /text: got array, want string`),
		one("resource of an unknown schema", "resources/notes/hello.yml", "note-1", "note-2",
			`resources/notes/hello.yml:2:1: FILE/SCHEMA_NOT_FOUND: /$schema: "/shop/note-2.yml" is not the path of a schema`),
		one("value of an anchor", lamp, "related:", "- *shade\nrelated:",
			`data/products/lamp.yml:15:3: UNIQUE/DUPLICATE_CONTEXT_UNIQUE_FIELD: /parts/1: the items 1, 2 have the same name`,
			`data/products/lamp.yml:20:3: UNIQUE/DUPLICATE_CONTEXT_UNIQUE_FIELD: /parts/2: the items 1, 2 have the same name`),
	} {
		m.test(t, clean)
	}
}

func TestMistakesInSchemas(t *testing.T) {
	clean := smallTree(t)
	for _, m := range []mistake{
		one("no metaschema", part, "$schema: /metaschema-1.json\n", "",
			`schemas/shop/part-1.yml:1:1: SCHEMA/MISSING_SCHEMA_URL: the key $schema is missing: it names the metaschema`),
		one("unknown metaschema", part, "/metaschema-1.json", "/metaschema-2.json",
			`schemas/shop/part-1.yml:1:1: SCHEMA/META_SCHEMA_NOT_FOUND: /$schema: "/metaschema-2.json" is neither the path of a metaschema nor http://json-schema.org/draft-06/schema`),
		one("against the metaschema", part, "version: '1.0'\n", "",
			`schemas/shop/part-1.yml:1:1: SCHEMA/VALIDATION_ERROR: the key "version" is missing`),
		one("against the own metaschema", part, "additionalProperties: false\nproperties:\n  $schema",
			"additionalProperties: true\nproperties:\n  $schema",
			`schemas/shop/part-1.yml:4:1: SCHEMA/VALIDATION_ERROR: /additionalProperties: true is not false`),
		one("no type of JSON", part, "  length:\n    type: integer", "  length:\n    type: int",
			`schemas/shop/part-1.yml:13:5: SCHEMA/SCHEMA_ERROR: /properties/length/type: "int" is not one of "array", "boolean", "integer", "null", "number", "object", "string"`),
		one("negative length", product, "minLength: 2", "minLength: -2",
			`schemas/shop/product-1.yml:25:7: SCHEMA/SCHEMA_ERROR: /properties/tags/items/minLength: -2 must be at least 0`),
		one("reference to no definition", product, "definitions/resourceref", "definitions/resourcref",
			`schemas/shop/product-1.yml:18:5: SCHEMA/SCHEMA_ERROR: /properties/manual/$ref: "/common-1.json" has nothing at "/definitions/resourcref"`),
		one("reference to no file", product, "/shop/part-1.yml", "/shop/part-2.yml",
			`schemas/shop/product-1.yml:38:7: SCHEMA/SCHEMA_ERROR: /properties/parts/items/$ref: "/shop/part-2.yml" is not the path of a schema`),
		one("target of no schema", "schemas/shop/supplier-1.yml", "$schemaRef: /shop/product-1.yml",
			"$schemaRef: /shop/prod-1.yml",
			`schemas/shop/supplier-1.yml:18:7: SCHEMA/SCHEMA_ERROR: /properties/products/items/$schemaRef: "/shop/prod-1.yml" is not the path of a schema`,
			`data/suppliers/northlight.yml:7:3: REF/INCORRECT_SCHEMA: /products/0/$ref: "/products/lamp.yml" has the schema "/shop/product-1.yml", want "/shop/prod-1.yml"`,
			`data/suppliers/northlight.yml:8:3: REF/INCORRECT_SCHEMA: /products/1/$ref: "/products/desk.yml" has the schema "/shop/product-1.yml", want "/shop/prod-1.yml"`),
		one("broken pattern", common, "^[a-z][a-z0-9-]*$", "^[a-z][a-z0-9-*$",
			"schemas/common-1.json:11:32: SCHEMA/SCHEMA_ERROR: /definitions/name/pattern: the pattern \"^[a-z][a-z0-9-*$\" does not compile: error parsing regexp: unterminated [] set in `^[a-z][a-z0-9-*$`"),
		one("schema is gone", part, "", "",
			`schemas/shop/product-1.yml:38:7: SCHEMA/SCHEMA_ERROR: /properties/parts/items/$ref: "/shop/part-1.yml" is not the path of a schema`),
		one("property without a field", product, "  pieces:\n", "  weight:\n    type: number\n  pieces:\n",
			`schemas/shop/product-1.yml:15:3: GRAPHQL/NO_FIELD: /properties/weight: the GraphQL type Product_v1 has no field "weight": no query can read it`),
		one("stricter for data", product, "exclusiveMaximum: 1000", "exclusiveMaximum: 10",
			`data/products/lamp.yml:4:1: FILE/VALIDATION_ERROR: /price: 49.5 must be less than 10`),
		one("refers to itself", common, `"name": {"type": "string",`,
			`"name": {"$ref": "#/definitions/name", "x": {"type": "string"},`,
			`data/products/desk.yml:2:1: FILE/VALIDATION_ERROR: /name: its schema refers to itself without end; the rest of it is not checked`,
			`data/products/lamp.yml:3:1: FILE/VALIDATION_ERROR: /name: its schema refers to itself without end; the rest of it is not checked`,
			`data/suppliers/northlight.yml:4:1: FILE/VALIDATION_ERROR: /name: its schema refers to itself without end; the rest of it is not checked`),
	} {
		m.test(t, clean)
	}
}

func TestMistakesInTypes(t *testing.T) {
	clean := smallTree(t)
	for _, m := range []mistake{
		one("against the schema", typesFile, "  - {name: url, type: string}", "  - {name: url}",
			`graphql/schema.yml:8:5: FILE/VALIDATION_ERROR: /confs/0/fields/3: the key "type" is missing`,
			`graphql/schema.yml:8:5: GRAPHQL/UNKNOWN_TYPE: /confs/0/fields/3/type: there is no type ""`),
		one("unknown type", typesFile, "name: pieces, type: int", "name: pieces, type: integer",
			`graphql/schema.yml:17:20: GRAPHQL/UNKNOWN_TYPE: /confs/1/fields/4/type: there is no type "integer"`),
		one("unknown schema of a query", typesFile, "isList: true, datafileSchema: /shop/product-1.yml",
			"isList: true, datafileSchema: /shop/prod-1.yml",
			`graphql/schema.yml:54:57: GRAPHQL/SCHEMA_NOT_FOUND: /confs/5/fields/1/datafileSchema: "/shop/prod-1.yml" is not the path of a schema`),
		one("unknown schema of a back reference", typesFile, "{schema: /shop/supplier-1.yml",
			"{schema: /shop/suppliers-1.yml",
			`graphql/schema.yml:26:17: GRAPHQL/SCHEMA_NOT_FOUND: /confs/1/fields/10/synthetic/schema: "/shop/suppliers-1.yml" is not the path of a schema`),
		one("type twice", typesFile, "- name: Shade_v1", "- name: Screw_v1",
			`graphql/schema.yml:34:7: GRAPHQL/UNKNOWN_TYPE: /confs/2/interfaceResolve/fieldMap/shade: there is no type "Shade_v1"`,
			`graphql/schema.yml:44:3: GRAPHQL/REPEATED: /confs/4/name: the type "Screw_v1" is defined twice`),
		one("unknown interface", typesFile, "- name: Screw_v1\n  interface: Part_v1",
			"- name: Screw_v1\n  interface: Parts_v1",
			`graphql/schema.yml:33:7: GRAPHQL/INTERFACE: /confs/2/interfaceResolve/fieldMap/screw: the type "Screw_v1" does not implement "Part_v1"`,
			`graphql/schema.yml:39:3: GRAPHQL/INTERFACE: /confs/3/interface: there is no interface "Parts_v1"`),
		one("interface lacks a field", typesFile,
			"- name: Screw_v1\n  interface: Part_v1\n  fields:\n  - {name: kind, type: string, isRequired: true}\n",
			"- name: Screw_v1\n  interface: Part_v1\n  fields:\n",
			`graphql/schema.yml:38:3: GRAPHQL/INTERFACE: /confs/3: the type "Screw_v1" lacks the field "kind" of its interface "Part_v1"`),
		one("interface maps to nothing", typesFile, "screw: Screw_v1", "screw: Nail_v1",
			`graphql/schema.yml:33:7: GRAPHQL/UNKNOWN_TYPE: /confs/2/interfaceResolve/fieldMap/screw: there is no type "Nail_v1"`),
		one("interface tells by no field", typesFile, "field: kind", "field: sort",
			`graphql/schema.yml:31:5: GRAPHQL/INTERFACE: /confs/2/interfaceResolve/field: the interface "Part_v1" has no field "sort"`),
		one("field is no interface", typesFile, "isList: true, isInterface: true", "isList: true",
			`graphql/schema.yml:21:5: GRAPHQL/INTERFACE: /confs/1/fields/8: isInterface of the field "parts" is false, that of its type "Part_v1" is true`),
		one("unique and an object", typesFile, "{name: related, type: Product_v1}",
			"{name: related, type: Product_v1, isUnique: true}",
			`graphql/schema.yml:22:5: SCHEMA/IS_UNIQUE_ON_COMPLEX_FIELD: /confs/1/fields/9: isUnique set on Product_v1.related, type Product_v1 is not a simple type`),
		one("unique below", typesFile, "{name: length, type: int}", "{name: length, type: int, isUnique: true}",
			`graphql/schema.yml:43:5: SCHEMA/IS_UNIQUE_ON_NON_TOP_LEVEL_TYPE: /confs/3/fields/2: isUnique set on Screw_v1.length, which is not a top-level type`),
		one("list for a string", typesFile, "{name: url, type: string}", "{name: url, type: string, isList: true}",
			`graphql/schema.yml:8:5: GRAPHQL/TYPE_MISMATCH: /confs/0/fields/3: the field "url" is a list, but in /shop/supplier-1.yml it is string`),
		one("string for a list", typesFile, "{name: tags, type: string, isList: true}", "{name: tags, type: string}",
			`graphql/schema.yml:19:5: GRAPHQL/TYPE_MISMATCH: /confs/1/fields/6: the field "tags" is not a list, but in /shop/product-1.yml it is one`),
		one("number for a string", typesFile, "{name: url, type: string}", "{name: url, type: int}",
			`graphql/schema.yml:8:5: GRAPHQL/TYPE_MISMATCH: /confs/0/fields/3: the field "url" is int, but in /shop/supplier-1.yml it is string`),
		one("field without a property", typesFile, "{name: url, type: string}", "{name: uri, type: string}",
			`schemas/shop/supplier-1.yml:11:3: GRAPHQL/NO_FIELD: /properties/url: the GraphQL type Supplier_v1 has no field "url": no query can read it`,
			`graphql/schema.yml:8:5: GRAPHQL/NO_PROPERTY: /confs/0/fields/3: /shop/supplier-1.yml has no property "uri": the field is always empty`),
		one("name that GraphQL does not allow", typesFile, "{name: suppliers_v1,", "{name: suppliers-v1,",
			`graphql/schema.yml:1:1: GRAPHQL/INVALID: graphql type "Query": field "suppliers-v1": "suppliers-v1" is not a name that GraphQL allows`),
	} {
		m.test(t, clean)
	}
}
