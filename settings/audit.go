package settings

import "go.yaml.in/yaml/v3"

// auditActions are the words for what follows when an audit finds a wrong skip.
var auditActions = []string{"report", "distrust"}

// readAudit reads the key audit, and returns whether a rung is not believed about an
// integration after an audit found it to be wrong.
func (r *reader) readAudit(n *yaml.Node) bool {
	keys := r.readObject(n, "audit", "on_miss")
	if n := keys["on_miss"]; n != nil {
		return r.readChoice(n, "audit.on_miss", auditActions) == 1
	}
	return false
}

// DistrustsMisses reports whether a rung that an audit found to be wrong about an integration
// is not believed about it, until somebody confirms that the cause is gone.
func (s *Settings) DistrustsMisses() bool { return s.distrust }
