// Package cloud reads what the data say about resources of APIs that a specification describes.
//
// A datafile of schema /cloud/api-1.yml is an [API]: its family, its endpoint, and the bundle
// resources that are its specifications. A datafile of schema /cloud/resource-1.yml is a
// [Resource] of it. [Reader.Read] asks for both by queries alone, and returns a [Model].
//
//   - A mistake of an entry is kept with the entry, with the file and a JSON pointer, and the
//     other entries go on. What is wrong with an API is a mistake of all its resources.
//   - The key of a resource is its id in canonical form. It does not depend on the datafile.
//   - A resource needs its parent and what it refers to. A reference is a text in its body
//     that is the id of another entry, an object {"$ref": "/path.yml"} in its place, or an
//     entry of the list needs. What a resource needs outside of its root orders nothing, and
//     is told.
//   - The digest of a resource covers the specifications that its type reaches and the
//     overrides about it. So a new specification changes the desired state of exactly those
//     resources that it may describe in another way.
//
// A Reader keeps the specifications that it has read by their content, so that two bundles
// with the same specifications read them once.
package cloud
