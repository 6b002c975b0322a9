// Package openapi reads API specifications: OpenAPI 2.0 (Swagger), 3.0 and 3.1, as JSON or YAML.
//
// A [Set] opens documents by name and follows references between them. It reads a document
// when something refers to it, and never anything that its reader does not give: a reference
// to another host, or to a place above the folder of the specifications, is an error.
//
// A [Schema] is what a place in a document says about a value. It is a union of layers: the
// place itself, what its $ref leads to, the members of its allOf, and the variants of a
// discriminator. So what stands beside $ref counts, and the layer that is nearer to the place
// wins. A schema reads its properties when they are asked for; a schema that holds itself
// is therefore no difficulty, and only who lists all paths must stop somewhere.
//
// Specifications are foreign text. Their size, their depth and the number of their values
// are bounded by [Limits], and a mistake in them is an [*Error] with its place.
//
// Nothing here is safe for concurrent use.
package openapi
