package rounds

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
)

// ask asks an integration how its things stand.
func (w *round) ask(ctx context.Context, n integration.Native, env integration.Environment) error {
	s, ok := n.(integration.StatusReader)
	if !ok {
		w.report.Misused = true
		return fmt.Errorf("the native integration %s tells no status", n.Name())
	}
	all, err := s.Status(ctx, env)
	slices.SortFunc(all, func(a, b integration.Status) int {
		return cmp.Or(strings.Compare(a.Shard, b.Shard), strings.Compare(a.Key, b.Key))
	})
	for i := range all {
		t := &all[i]
		t.Key, t.Kind, t.Shard, t.File = w.clean(t.Key), w.clean(t.Kind), w.clean(t.Shard), w.clean(t.File)
		for j := range t.Conditions {
			c := &t.Conditions[j]
			c.Reason, c.Message = w.clean(c.Reason), w.clean(c.Message)
		}
	}
	w.report.Things = all
	return err
}

// WriteStatus writes how things stand, for people: a line for each thing, and one for each
// condition that needs somebody to look at it.
func (r *Report) WriteStatus(w io.Writer) error {
	var out strings.Builder
	shard := ""
	for _, t := range r.Things {
		if t.Shard != shard {
			fmt.Fprintf(&out, "%s\n", t.Shard)
			shard = t.Shard
		}
		var words, lines []string
		for _, c := range t.Conditions {
			words = append(words, c.Type+"="+string(c.Status))
			if c.Message != "" {
				lines = append(lines, fmt.Sprintf("    %s: %s: %s\n", c.Type, c.Reason, c.Message))
			}
		}
		fmt.Fprintf(&out, "  %s  %s\n", t.Key, strings.Join(words, " "))
		out.WriteString(strings.Join(lines, ""))
	}
	for _, f := range r.Findings {
		out.WriteString("  " + f.text() + "\n")
	}
	fmt.Fprintf(&out, "%d things\n", len(r.Things))
	_, err := io.WriteString(w, out.String())
	return err
}

// WriteStatusJSON writes how things stand as JSON.
func (r *Report) WriteStatusJSON(w io.Writer) error {
	things := r.Things
	if things == nil {
		things = []integration.Status{}
	}
	return json.NewEncoder(w).Encode(struct {
		Version     string               `json:"version"`
		Integration string               `json:"integration"`
		Things      []integration.Status `json:"things"`
		Findings    []Located            `json:"findings"`
		Errors      []string             `json:"errors"`
	}{r.Version, r.Integration, things, r.Findings, r.Errors})
}
