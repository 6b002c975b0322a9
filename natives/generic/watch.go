package generic

import "github.com/app-sre/prcheck/natives/native"

// watches returns the ids of all resources, which events of a service name as their subject.
func watches(is native.Desired) []string {
	out := []string{}
	for _, p := range is.Parts {
		for _, it := range p.Items {
			out = append(out, string(it.Key))
		}
	}
	return out
}
