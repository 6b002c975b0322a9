package reconcile

import (
	"maps"
	"slices"
)

// A graph says what must come before what. Only keys of the graph count as needs.
type graph map[Key][]Key

// cycles returns the circles of the graph, each as its sorted members: the strongly connected
// components with more than one key, and keys that need themselves.
//
// The algorithm is that of R. Tarjan, "Depth-first search and linear graph algorithms" (1972),
// with a stack of its own, because the depth of the data is not bounded.
func (g graph) cycles() [][]Key {
	s := search{graph: g, index: map[Key]int{}, low: map[Key]int{}, on: map[Key]bool{}}
	for _, k := range slices.Sorted(maps.Keys(g)) {
		if s.index[k] == 0 {
			s.visit(k)
		}
	}
	slices.SortFunc(s.found, slices.Compare)
	return s.found
}

// A search is the state of Tarjan's algorithm.
type search struct {
	graph
	index, low map[Key]int // 0 means not visited
	on         map[Key]bool
	stack      []Key
	found      [][]Key
}

// A frame is a key whose needs are being visited.
type frame struct {
	key  Key
	next int // need
}

func (s *search) visit(root Key) {
	frames := []frame{s.enter(root)}
	for len(frames) > 0 {
		f := &frames[len(frames)-1]
		if needs := s.graph[f.key]; f.next < len(needs) {
			to := needs[f.next]
			f.next++
			if _, known := s.graph[to]; !known {
				continue
			}
			switch {
			case s.index[to] == 0:
				frames = append(frames, s.enter(to))
			case s.on[to]:
				s.low[f.key] = min(s.low[f.key], s.index[to])
			}
			continue
		}
		done := f.key
		frames = frames[:len(frames)-1]
		if len(frames) > 0 {
			above := frames[len(frames)-1].key
			s.low[above] = min(s.low[above], s.low[done])
		}
		if s.low[done] == s.index[done] {
			s.leave(done)
		}
	}
}

func (s *search) enter(k Key) frame {
	n := len(s.index) + 1
	s.index[k], s.low[k], s.on[k] = n, n, true
	s.stack = append(s.stack, k)
	return frame{key: k}
}

// leave takes a complete component from the stack.
func (s *search) leave(root Key) {
	i := len(s.stack) - 1
	for s.stack[i] != root {
		i--
	}
	component := slices.Sorted(slices.Values(s.stack[i:]))
	s.stack = s.stack[:i]
	for _, k := range component {
		s.on[k] = false
	}
	if len(component) > 1 || slices.Contains(s.graph[root], root) {
		s.found = append(s.found, component)
	}
}

// waves returns the keys in waves: each key comes in the first wave after all that it needs.
// Keys of circles, and keys that need them, are left out.
func (g graph) waves() [][]Key {
	left := map[Key]int{} // needs that did not come yet
	users := map[Key][]Key{}
	for k, needs := range g {
		left[k] += 0
		for _, n := range distinct(needs) {
			if _, known := g[n]; known {
				left[k]++
				users[n] = append(users[n], k)
			}
		}
	}
	var out [][]Key
	var wave []Key
	for k, n := range left {
		if n == 0 {
			wave = append(wave, k)
		}
	}
	for len(wave) > 0 {
		slices.Sort(wave)
		out = append(out, wave)
		var next []Key
		for _, k := range wave {
			for _, u := range users[k] {
				if left[u]--; left[u] == 0 {
					next = append(next, u)
				}
			}
		}
		wave = next
	}
	return out
}

// reversed returns the graph in which everything comes before what it needs.
func (g graph) reversed() graph {
	out := graph{}
	for k, needs := range g {
		out[k] = append(out[k], nil...)
		for _, n := range needs {
			if _, known := g[n]; known {
				out[n] = append(out[n], k)
			}
		}
	}
	return out
}

func distinct(keys []Key) []Key {
	out := slices.Sorted(slices.Values(keys))
	return slices.Compact(out)
}
