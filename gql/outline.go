package gql

type outline struct{}

func (q *Query) outline() *outline { return &outline{} }
