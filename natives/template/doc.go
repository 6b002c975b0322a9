// Package template fills in the parameters of OpenShift templates: ${NAME} in any text, and
// ${{NAME}} for a value that is no text.
//
// [Read] reads a template, and [Process] returns its objects. The rules are those of OpenShift's
// template processing, to the answers that are recorded of it, with three decisions:
//
//   - A name that is not declared stays as it is, since shell variables look the same.
//   - A parameter whose missing value would be generated is an error: the same input must give
//     the same objects.
//   - Two keys of a map, or two labels, that become the same are an error.
//
// A [Document] is YAML or JSON whose values know their lines. Templates are foreign bytes: loops
// of anchors, huge depth and texts that grow without bound are errors.
package template
