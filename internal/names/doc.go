// Package names decides which names can be trusted by their looks, and makes names that can be
// trusted of any text.
//
// Names of integrations, and commands of definitions, come from the change that is
// checked, so its author chooses them. A name goes into a command, into the id of an
// HTML element or into the marker of a note only if [IsPlain] or [IsTool]
// accepts it. Both accept too little rather than too much. Where every text must have a name,
// as in a cluster, [DNSLabel] and [LabelValue] return one.
package names
