package saas

import (
	"fmt"
	"strings"
	"time"

	"github.com/app-sre/prcheck/natives/saas/schedule"
	"github.com/app-sre/prcheck/plan"
)

// hold marks what cannot be told apart or would never end, and says why. It holds no more than
// that: saas files of one name, targets of one identity, cells of one name of objects, targets in
// a circle of channels.
func hold(m *Model) {
	holdFiles(m)
	seen, cells := map[string][]*Target{}, map[string]map[string][]*Target{}
	m.eachTarget(func(t *Target) {
		holdTarget(m, t)
		seen[t.UID()] = append(seen[t.UID()], t)
		if t.Disable {
			return
		}
		name, key := combo(t.Template.File.Name, t.Env()), t.Template.File.Name+"/"+t.Env()
		if cells[name] == nil {
			cells[name] = map[string][]*Target{}
		}
		cells[name][key] = append(cells[name][key], t)
	})
	for _, uid := range sortedKeys(seen) {
		for _, t := range seen[uid] {
			if len(seen[uid]) > 1 {
				m.breakTarget(t, CodeName, "", fmt.Sprintf("%d targets are %s; give them different names", len(seen[uid]),
					t.Label()))
			}
		}
	}
	for _, name := range sortedKeys(cells) {
		keys := sortedKeys(cells[name])
		wrong := wrongName(name)
		for _, key := range keys {
			for _, t := range cells[name][key] {
				if wrong != "" {
					m.breakTarget(t, CodeName, "", fmt.Sprintf("no cluster accepts the name %.80s of the cell %s: %s", name, key,
						wrong))
				}
				if len(keys) > 1 {
					m.breakTarget(t, CodeName, "", fmt.Sprintf("the cells %s have one name for objects, %s; rename one",
						strings.Join(keys, " and "), name))
				}
			}
		}
	}
	holdPlaces(m)
	holdCircles(m)
}

// holdPlaces holds the targets of a saas file that deploy to one namespace which two datafiles name
// for different environments or clusters: the run of each cell would delete what the other one
// makes, or a target would be deployed to the cluster of another one.
func holdPlaces(m *Model) {
	first := map[[2]string]*Target{}
	both := func(t *Target) [2]string { return [2]string{t.Template.File.Name, t.Namespace.At()} }
	wrong := map[[2]string]string{}
	m.eachTarget(func(t *Target) {
		of := first[both(t)]
		switch {
		case t.Disable:
		case of == nil:
			first[both(t)] = t
		case of.Env() != t.Env(), of.Namespace.Cluster.Path != t.Namespace.Cluster.Path:
			wrong[both(t)] = fmt.Sprintf("%.200s and %.200s are both the namespace %.200s, of different environments or "+
				"clusters; remove one",
				of.Namespace.Path, t.Namespace.Path, t.Namespace.At())
		}
	})
	m.eachTarget(func(t *Target) {
		if message := wrong[both(t)]; message != "" && !t.Disable {
			m.breakTarget(t, CodeNamespace, "/namespace", message)
		}
	})
}

// eachTarget calls do for all targets, in the order of the data.
func (m *Model) eachTarget(do func(*Target)) {
	for _, f := range m.Files {
		for _, t := range f.Templates {
			for _, target := range t.Targets {
				do(target)
			}
		}
	}
}

// holdFiles holds saas files whose names are no names, or are used twice.
func holdFiles(m *Model) {
	byName := map[string][]*File{}
	for _, f := range m.Files {
		byName[f.Name] = append(byName[f.Name], f)
	}
	for _, f := range m.Files {
		message := ""
		switch {
		case f.Name == "":
			continue // its mistake was told
		case strings.ContainsAny(f.Name, ":/"):
			message = fmt.Sprintf("the name %.80q must have no colon and no slash", f.Name)
		case len(byName[f.Name]) > 1:
			var paths []string
			for _, other := range byName[f.Name] {
				paths = append(paths, other.Path)
			}
			message = fmt.Sprintf("%d saas files are named %s: %s; rename one", len(paths), f.Name, strings.Join(paths, ", "))
		}
		if message == "" {
			continue
		}
		if f.Broken == "" {
			f.Broken = message
		}
		m.tellFile(f, CodeName, plan.SeverityError, "/name", message)
	}
}

// holdTarget holds a target with a name, a channel or a window that cannot be used.
func holdTarget(m *Model, t *Target) {
	name := value(t.Name)
	switch {
	case strings.Contains(t.Template.Name, ":"), strings.Contains(t.Template.Name, "/"):
		m.breakTarget(t, CodeName, "", fmt.Sprintf("the name %.80q of the template must have no colon and no slash",
			t.Template.Name))
	case strings.ContainsAny(name, ":/"):
		m.breakTarget(t, CodeName, "/name", fmt.Sprintf("the name %.80q must have no colon and no slash", name))
	case strings.ContainsAny(t.Env(), ":/"), strings.ContainsAny(t.Namespace.Name, ":/"),
		strings.ContainsAny(t.Namespace.Cluster.Name, ":/"):
		m.breakTarget(t, CodeName, "/namespace", "names of environments, clusters and namespaces must have no colon and "+
			"no slash")
	}
	if t.Promotion == nil {
		return
	}
	m.holdChannels(t, "publish", t.Promotion.Publish)
	m.holdChannels(t, "subscribe", t.Promotion.Subscribe)
	if t.Promotion.Schedule != "" {
		switch s, err := schedule.Parse(t.Promotion.Schedule); {
		case err != nil:
			m.breakTarget(t, CodeSchedule, "/promotion/schedule", err.Error())
		case s.Next(time.Time{}).IsZero():
			m.breakTarget(t, CodeSchedule, "/promotion/schedule", fmt.Sprintf("the window %q never opens", t.Promotion.Schedule))
		}
	}
	for i, channel := range t.Promotion.Subscribe {
		if why := m.unknownPublisher(channel); why != "" {
			m.breakTarget(t, CodeChannel, fmt.Sprintf("/promotion/subscribe/%d", i), why)
		}
	}
}

// holdChannels holds a target with a channel of no name, or with a slash in it.
func (m *Model) holdChannels(t *Target, word string, channels []string) {
	for i, channel := range channels {
		if channel == "" || strings.Contains(channel, "/") {
			m.breakTarget(t, CodeChannel, fmt.Sprintf("/promotion/%s/%d", word, i),
				fmt.Sprintf("the channel %.80q must have a name without slash", channel))
		}
	}
}

// unknownPublisher returns why the publishers of a channel are not all known, "" if they are.
func (m *Model) unknownPublisher(channel string) string {
	for _, of := range []string{channel, anyChannel} {
		if path := m.unread[of]; path != "" {
			return fmt.Sprintf("the publishers of the channel %.100s are not all known: %s cannot be used", channel, path)
		}
	}
	return ""
}

// anyChannel stands for all channels in Model.unread.
const anyChannel = ""

// A circle finds channels that promote to each other: the strongly connected components of the
// graph of channels, by the algorithm of Tarjan.
type circle struct {
	next  map[string][]string // from each channel to those that its subscribers publish
	index map[string]int      // when a channel was visited, from 1 on
	low   map[string]int      // the first channel that can be reached
	stack []string
	on    map[string]bool // what stands on the stack
	group map[string]int  // component of a channel
}

// visit visits a channel and all that follow on it.
func (c *circle) visit(channel string) {
	c.index[channel] = len(c.index) + 1
	c.low[channel] = c.index[channel]
	c.stack, c.on[channel] = append(c.stack, channel), true
	for _, next := range c.next[channel] {
		if c.index[next] == 0 {
			c.visit(next)
			c.low[channel] = min(c.low[channel], c.low[next])
		} else if c.on[next] {
			c.low[channel] = min(c.low[channel], c.index[next])
		}
	}
	if c.low[channel] != c.index[channel] {
		return
	}
	for {
		last := c.stack[len(c.stack)-1]
		c.stack, c.on[last] = c.stack[:len(c.stack)-1], false
		c.group[last] = c.index[channel]
		if last == channel {
			return
		}
	}
}

// holdCircles holds targets that publish, directly or through others, what they subscribe to.
func holdCircles(m *Model) {
	c := &circle{next: map[string][]string{}, index: map[string]int{}, low: map[string]int{}, on: map[string]bool{},
		group: map[string]int{}}
	each := func(do func(t *Target, from, to string)) {
		m.eachTarget(func(t *Target) {
			if t.Promotion == nil {
				return
			}
			for _, from := range t.Promotion.Subscribe {
				for _, to := range t.Promotion.Publish {
					do(t, from, to)
				}
			}
		})
	}
	each(func(_ *Target, from, to string) { c.next[from] = append(c.next[from], to) })
	for _, channel := range sortedKeys(c.next) {
		if c.index[channel] == 0 {
			c.visit(channel)
		}
	}
	each(func(t *Target, from, to string) {
		if c.group[from] == c.group[to] {
			m.breakTarget(t, CodeChannel, "/promotion",
				fmt.Sprintf("the channels %.100s and %.100s promote to each other, so that no promotion ends", from, to))
		}
	})
}
