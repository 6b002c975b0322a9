// Package template fills in the parameters of OpenShift templates: ${NAME} in any text, and
// ${{NAME}} for a value that is no text.
//
// The rules are those of OpenShift's template processing. A name that is not declared stays as
// it is, since shell variables look the same. A value is not processed again.
package template
