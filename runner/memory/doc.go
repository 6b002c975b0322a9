// Package memory tells how much memory the tasks of a run may need together.
package memory
