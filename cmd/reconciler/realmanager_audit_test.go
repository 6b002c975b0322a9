//go:build !race

package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/doubles/kubetest"
)

// The requests that an account sent, by verb.
type requests map[string][]kubetest.Request

// sent returns what an account has sent until now.
func (in *installation) sent(t *testing.T, account string) requests {
	t.Helper()
	out := requests{}
	for _, q := range in.real.Audit(t, in.users[account]) {
		out[q.Verb] = append(out[q.Verb], q)
	}
	return out
}

// since returns the requests that were sent after others.
func (r requests) since(before requests) requests {
	out := requests{}
	for verb, all := range r {
		if all = all[len(before[verb]):]; len(all) > 0 {
			out[verb] = all
		}
	}
	return out
}

// writes returns the paths of all that is not get or list, also of what was only tried.
func (r requests) writes() []string {
	var out []string
	for verb, all := range r {
		for _, q := range all {
			if verb != "get" && verb != "list" {
				out = append(out, verb+" "+q.Path)
			}
		}
	}
	slices.Sort(out)
	return out
}

// count returns how many requests there are by verb, for messages.
func (r requests) count() string {
	out := map[string]int{}
	for verb, all := range r {
		out[verb] = len(all)
	}
	return fmt.Sprint(out)
}
