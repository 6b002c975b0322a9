package saas

import (
	"slices"

	"github.com/app-sre/prcheck/integration"
)

// A cellState is all of the data that rendering, checks and the gate of a cell read.
type cellState struct {
	Key    string        `json:"key"`
	Broken string        `json:"broken,omitempty"`
	File   fileState     `json:"file"`
	Env    envState      `json:"environment"`
	Of     []targetState `json:"targets"`
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
}

type envState struct {
	Parameters       *string           `json:"parameters,omitempty"`
	SecretParameters []SecretParameter `json:"secret_parameters,omitempty"`
	Blocked          []BlockRule       `json:"blocked_images,omitempty"` // that count for its labels
}

type targetState struct {
	UID        string         `json:"uid"`
	Broken     string         `json:"broken,omitempty"`
	Content    any            `json:"content"`
	Place      string         `json:"place"` // the file of a target that has one of its own
	Kind       Kind           `json:"kind"`
	HashLength int            `json:"hash_length,omitempty"`
	Namespace  string         `json:"namespace"` // path of its datafile
	Cluster    clusterState   `json:"cluster"`
	Component  Component      `json:"component"`
	Channels   []channelState `json:"channels,omitempty"`
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
	out := cellState{Key: c.Key(), Broken: f.Broken, File: fileState{Path: f.Path, App: f.App, ManagedNames: f.ManagedNames,
		ImagePatterns: f.ImagePatterns, Code: f.Code, Image: f.Image, AllowedPaths: f.AllowedSecretPaths, HashLength: m.HashLength,
		Switches: f.switches()}}
	for _, t := range c.Targets {
		out.Of = append(out.Of, m.targetState(t))
		out.Env = m.envState(t.Namespace.Environment)
	}
	return out
}

// switches returns the names of the switches of a saas file that are on.
func (f *File) switches() []string {
	var out []string
	for name, on := range map[string]bool{"validateTargetsInApp": f.ValidateTargetsInApp, "validatePlannedData": f.ValidatePlannedData,
		"takeover": f.Takeover, "deprecated": f.Deprecated, "compare": f.Compare, "clusterAdmin": f.ClusterAdmin,
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
	out := envState{Parameters: e.Parameters, SecretParameters: e.SecretParameters}
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
	out := targetState{UID: t.UID(), Broken: t.Broken, Content: t.Content(), Kind: t.Template.Kind, HashLength: t.Template.HashLength,
		Namespace: t.Namespace.Path, Component: m.Component(t),
		Cluster: clusterState{Ref: cluster.Ref, Admin: cluster.Admin, Disable: cluster.Disabled, Problem: cluster.Problem}}
	if t.Place.File != t.Template.File.Path {
		out.Place = t.Place.File
	}
	if t.Promotion == nil {
		return out
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
