// Package template fills in the parameters of OpenShift templates: ${NAME} in any text, and
// ${{NAME}} for a value that is no text.
//
// [Read] reads a template, and [Process] returns its objects. The rules are those of OpenShift's
// template processing, with four decisions:
//
//   - A name that is not declared stays as it is, since shell variables look the same.
//   - A value is not processed again, not even if it holds a reference.
//   - A parameter whose missing value would be generated is an error: the same input must give
//     the same objects.
//   - Two keys of a map that become the same key are an error.
//
// A [Document] is YAML or JSON whose values know their lines. Templates are foreign bytes: loops
// of anchors, huge depth and texts that grow without bound are errors.
package template
