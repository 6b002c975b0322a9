package plan

// Label names the part of the integration that a task does: "" for the whole, a
// shard such as cluster, a static shard of it such as cluster{1/2}, or a static
// shard of the whole such as {1/2}. No shard key has braces, so no two parts of an
// integration share a label.
func (t Task) Label() string {
	if t.Static == (Fraction{}) {
		return t.Shard
	}
	return t.Shard + "{" + t.Static.String() + "}"
}

// Numbers returns the number of static shards that share the work, and the index of
// this static shard, from 0. For the zero value it returns 1 and 0.
func (f Fraction) Numbers() (shards, id int) { return max(f.Of, 1), max(f.Part, 1) - 1 }
