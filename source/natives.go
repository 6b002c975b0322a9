package source

import "github.com/app-sre/prcheck/integration"

// Natives are the integrations that are part of the programs. There is none
// yet: add a package below integrations/ here, and the planner asks it for its
// desired state and the runner runs it.
func Natives() []integration.Native { return nil }
