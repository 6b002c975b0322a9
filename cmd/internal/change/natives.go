package change

import "github.com/app-sre/prcheck/integration"

// Natives returns the integrations that are part of the programs. There are none yet. Add a
// package below integrations/ here, and the planner asks it for its desired state and the
// runner runs it.
func Natives() []integration.Native { return nil }
