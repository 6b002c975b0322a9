package saas

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
)

// A cellState is all of the data that rendering, checks and the gate of a cell read.
type cellState struct {
	Key    string        `json:"key"`
	Broken string        `json:"broken,omitempty"`
	File   fileState     `json:"file"`
	Envs   []envState    `json:"environments"` // one, unless two environments have the same name
	Of     []targetState `json:"targets"`
	// Kept are the places where objects stay that no target names, because a target that is
	// disabled may have made them.
	Kept []string `json:"kept,omitempty"`
}

type fileState struct {
	Path          string                 `json:"path"`
	App           string                 `json:"app"`
	ManagedNames  []ManagedNames         `json:"managed_names,omitempty"`
	ImagePatterns []string               `json:"image_patterns"`
	Code          *integration.SecretRef `json:"code,omitempty"`
	Image         *integration.SecretRef `json:"image,omitempty"`
	AllowedPaths  []string               `json:"allowed_secret_paths,omitempty"`
	HashLength    int                    `json:"hash_length"`
	// Switches are the names of those that are on.
	Switches []string `json:"switches,omitempty"`
	Secrets  string   `json:"secret_parameters,omitempty"`
}

type envState struct {
	Path       string      `json:"path"`
	Parameters *string     `json:"parameters,omitempty"`
	Secrets    string      `json:"secret_parameters,omitempty"`
	Blocked    []BlockRule `json:"blocked_images,omitempty"` // that count for its labels
}

type targetState struct {
	UID        string         `json:"uid"`
	Broken     string         `json:"broken,omitempty"`
	Hash       string         `json:"hash"` // tells the order of lists, too
	Content    any            `json:"content"`
	Secrets    string         `json:"secret_parameters,omitempty"` // of the template and of the target
	Place      string         `json:"place"`                       // the file of a target that has one of its own
	Kind       Kind           `json:"kind"`
	HashLength int            `json:"hash_length,omitempty"`
	Namespace  string         `json:"namespace"` // path of its datafile
	Cluster    clusterState   `json:"cluster"`
	Component  Component      `json:"component"`
	Channels   []channelState `json:"channels,omitempty"`
	Noted      string         `json:"noted,omitempty"` // config hashes of publishers, in their order
}

type clusterState struct {
	Ref     integration.ClusterRef `json:"ref"`
	Admin   *integration.SecretRef `json:"admin,omitempty"`
	Disable []string               `json:"disable,omitempty"`
	Problem string                 `json:"problem,omitempty"`
}

// A channelState is a channel that a target subscribes to, with the identities of its publishers.
type channelState struct {
	Name       string   `json:"name"`
	Publishers []string `json:"publishers"`
}

// CellState returns all of the data that rendering, checks and the gate of a cell read, with more
// than the config hash has: what it leaves out triggers no deploy, but changes what a deploy does.
// It can be encoded as JSON, and is the same for the same data. Positions of targets and what
// [Validate] says are not part of it: a new target would change them for all others.
func (m *Model) CellState(c Cell) any {
	f := c.File
	out := cellState{Key: c.Key(), Broken: f.Broken,
		File: fileState{Path: f.Path, App: f.App, ManagedNames: f.ManagedNames,
			ImagePatterns: f.ImagePatterns, Code: f.Code, Image: f.Image, AllowedPaths: f.AllowedSecretPaths,
			HashLength: m.HashLength,
			Switches:   f.switches(), Secrets: inOrder(f.SecretParameters)}}
	for _, t := range c.Targets {
		out.Of = append(out.Of, m.targetState(t))
		env := t.Namespace.Environment
		if !slices.ContainsFunc(out.Envs, func(e envState) bool { return e.Path == env.Path }) {
			out.Envs = append(out.Envs, m.envState(env))
		}
		if at := t.Namespace.At(); !slices.Contains(out.Kept, at) && f.DisabledAt(at) != nil {
			out.Kept = append(out.Kept, at)
		}
	}
	return out
}

// At returns where a namespace is: CLUSTER/NAMESPACE.
func (n Namespace) At() string { return n.Cluster.Name + "/" + n.Name }

// DisabledAt returns the first target that is disabled at a place, see [Namespace.At]; nil if
// there is none.
func (f *File) DisabledAt(place string) *Target {
	for _, of := range f.Templates {
		for _, t := range of.Targets {
			if t.Disable && t.Namespace.At() == place {
				return t
			}
		}
	}
	return nil
}

// inOrder returns lists of parameters as one text: of two with one name the last one counts. The
// order of most other lists means nothing, so that of lists does not count when states are compared.
func inOrder(lists ...[]SecretParameter) string {
	var b strings.Builder
	for i, list := range lists {
		for _, p := range list {
			// never fails
			_, _ = fmt.Fprintf(&b, "%d %q %q %q %q %q\n", i, p.Name, p.Secret.Path, p.Secret.Field, p.Secret.Version, p.Format)
		}
	}
	return b.String()
}

// switches returns the names of the switches of a saas file that are on.
func (f *File) switches() []string {
	var out []string
	for name, on := range map[string]bool{"validateTargetsInApp": f.ValidateTargetsInApp,
		"validatePlannedData": f.ValidatePlannedData,
		"takeover":            f.Takeover, "deprecated": f.Deprecated, "compare": f.Compare, "clusterAdmin": f.ClusterAdmin,
		"use_channel_in_image_tag": f.UseChannelInImageTag, "publishJobLogs": f.PublishJobLogs} {
		if on {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// envState returns what of an environment is read.
func (m *Model) envState(e *Environment) envState {
	out := envState{Path: e.Path, Parameters: e.Parameters, Secrets: inOrder(e.SecretParameters)}
	for _, b := range m.Blocks {
		if b.Covers(e) {
			out.Blocked = append(out.Blocked, b)
		}
	}
	return out
}

// Covers reports whether a rule counts for an environment: it has all labels of the rule.
func (b BlockRule) Covers(e *Environment) bool {
	for key, want := range b.Labels {
		if is, ok := e.Labels[key]; !ok || is != want {
			return false
		}
	}
	return true
}

// targetState returns what of a target is read.
func (m *Model) targetState(t *Target) targetState {
	cluster := t.Namespace.Cluster
	out := targetState{UID: t.UID(), Broken: t.Broken, Hash: t.Hash(), Content: t.Content(),
		Secrets: inOrder(t.Template.SecretParameters, t.SecretParameters), Kind: t.Template.Kind,
		HashLength: t.Template.HashLength,
		Namespace:  t.Namespace.Path, Component: m.Component(t),
		Cluster: clusterState{Ref: cluster.Ref, Admin: cluster.Admin, Disable: cluster.Disabled, Problem: cluster.Problem}}
	if t.Place.File != t.Template.File.Path {
		out.Place = t.Place.File
	}
	if t.Promotion == nil {
		return out
	}
	for _, of := range t.Promotion.Data {
		for _, parent := range of.Parents {
			out.Noted += fmt.Sprintf("%q %q %q\n", of.Channel, parent.Saas, parent.Hash)
		}
	}
	for _, name := range t.Promotion.Subscribe {
		channel := channelState{Name: name, Publishers: []string{}}
		for _, from := range m.Publishers(name) {
			channel.Publishers = append(channel.Publishers, from.UID())
		}
		out.Channels = append(out.Channels, channel)
	}
	return out
}
