package plan

// Label names what a task does of its integration: "" for all of it, else the
// shard, with the static shard of it behind, as in cluster{1/2}, or {1/2} alone. No
// key of a shard has braces, so no two parts of an integration share a label.
func (t Task) Label() string {
	if t.Static == (Fraction{}) {
		return t.Shard
	}
	return t.Shard + "{" + t.Static.String() + "}"
}

// Numbers returns how many static shards share the work, and which of these it
// is, from 0. The zero value is the only one: 1 and 0.
func (f Fraction) Numbers() (shards, id int) { return max(f.Of, 1), max(f.Part, 1) - 1 }
