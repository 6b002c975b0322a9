package saas

// Key returns the shard that a cell is: saas/environment.
func (c Cell) Key() string { return c.File.Name + "/" + c.Environment }

// Env returns the name of the environment of a target.
func (t *Target) Env() string { return t.Namespace.Environment.Name }

// Label returns the name of a target for people.
func (t *Target) Label() string {
	name := t.Template.File.Name + "/" + t.Template.Name
	if t.Name != nil {
		name += "/" + *t.Name
	}
	return name + " " + t.Namespace.Cluster.Name + "/" + t.Namespace.Name
}
