// Package starting makes the tasks of a plan startable: each with a server of
// its own, the environment that the settings give it, and nothing else.
package launch
