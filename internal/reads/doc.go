// Package reads records which files a command and its children use: which they open, list, ask
// for, also in vain, and run.
package reads
