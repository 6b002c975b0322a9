// Package classes says of each property of a resource type what can be done with it: whether
// the service fills it in, whether it can be changed after the resource was made, whether it
// can be read back, and how its lists are merged.
//
// Every class has a [Ground]: who says so, and where. The sources, the strongest first:
//
//   - override: an entry of an override file, with its reason
//   - declared: a keyword of the specification, with its place
//   - family: a habit of all APIs of the family
//   - inferred: a difference between what GET answers and what PUT, POST and PATCH take
//
// Specifications are wrong in places, so some rules believe less than is written:
//
//   - readOnly counts in what a request takes only. Services mark properties so in what they
//     answer, and take them.
//   - PUT minus PATCH says create-only only where PATCH is real: where it takes some
//     properties of the resource itself.
//   - A schema that takes any members proves nothing about what it does not name.
//
// Classes are inherited: what is inside of a read-only property is read-only.
package classes
