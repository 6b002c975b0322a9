// Package dependence remembers on what the answers of integrations depend beyond the
// schemas that their definitions allow, so that the planner can select by it.
package dependence
