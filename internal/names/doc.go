// Package names decides which names can be trusted by their looks.
//
// Names of integrations, and commands of definitions, come from the change that is
// checked, so its author chooses them. A name goes into a command, into the id of an
// HTML element or into the marker of a note only if one of these functions accepts
// it. Both accept too little rather than too much.
package names
