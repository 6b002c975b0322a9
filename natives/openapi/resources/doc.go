// Package resources finds the resource types of API specifications.
//
// A resource type is an address with GET and PUT, or with GET and DELETE where POST on its
// collection creates. PUT without GET is an action. The address also gives the type its name,
// and its place in the hierarchy: the nearest address in front of it that is a type is its
// parent. How names are read from addresses is a matter of the [Habits]:
//
//   - arm, Azure: what follows the last /providers/ are a provider, and types and names in
//     turn. The type is Provider/type/sub@version.
//   - kubernetes: group/version/plural. What stands behind the name of an object is a
//     sub-resource, which is no type.
//   - plain: any other API. The type is made of the fixed parts of the address.
//
// Names of parameters and case do not count. A fixed name, or a parameter with one allowed
// value, makes the type a singleton. A parameter in the place of a type makes one type for
// each of its allowed values. An address with GET only and one more fixed part than a type is
// a join: a part of the status that is read for itself, such as instanceView.
package resources
