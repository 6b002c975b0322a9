package gql

// AppendJSON appends a value of a bundle to out as JavaScript's JSON.stringify
// writes it: keys that are array indexes come first, numbers have the digits
// that Node prints. The value is one that package bundle decodes.
func AppendJSON(out []byte, v any) []byte { return appendJSON(out, v) }

// Kind returns the word of the operation that the query executes: "query",
// "mutation" or "subscription".
func (q *Query) Kind() string { return q.op.kind }
