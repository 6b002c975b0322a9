package report

import (
	"encoding/json"
	"io"
)

// Terraform writes the numbers of effects as GitLab's Terraform report: one object with
// how much would be created, updated and deleted. These are the numbers of
// [AllEffects.Counts], so effects that are pending on base are not among them. The format
// has no place for effects of other kinds, nor for tasks whose effects are not known.
func Terraform(w io.Writer, f Input) error {
	c := f.Report.Effects.Counts
	return json.NewEncoder(w).Encode(struct {
		Create int `json:"create"`
		Update int `json:"update"`
		Delete int `json:"delete"`
	}{c.Create, c.Change, c.Delete})
}
