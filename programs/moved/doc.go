// Package moved keeps, for one version, the spelling of commands that another program has now. A command executes that
// program, which lies beside its own, with the same arguments, and says so.
package moved
