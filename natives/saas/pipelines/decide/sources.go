package decide

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/integration/services"
)

// A ConfigSource is what the data say about a target.
type ConfigSource struct {
	Hash    string          // digest of the content
	Content json.RawMessage // what a change of starts a run
	Ref     string          // of the target
	Auto    bool            // promotions set the ref
	// Repository is the address of the data, and Commit the one that is read; "" if nobody knows.
	Repository, Commit string
}

// Signal returns the signal of the data.
func (s ConfigSource) Signal() Signal {
	out := Signal{Kind: Config, Value: s.Hash, Content: s.Content, Ref: s.Ref, Auto: s.Auto}
	if s.Repository != "" {
		out.Reason = s.Repository
		if s.Commit != "" {
			out.Reason += "/commit/" + s.Commit
		}
		if s.Auto {
			out.Reason += " [auto-promotion]"
		}
	}
	return out
}

// A CommitSource is a branch that a target follows.
type CommitSource struct {
	URL, Branch string
	Head        string // "" if there is no such branch
	Unknown     string // why nobody knows the head
}

// Signal returns the signal of the branch.
func (s CommitSource) Signal() Signal {
	out := Signal{Kind: Commit, Value: s.Head, Unknown: s.Unknown, Ref: s.Head, Reason: s.URL + "/commit/" + s.Head}
	if out.Unknown == "" && s.Head == "" {
		out.Unknown = fmt.Sprintf("%s has no branch %q", s.URL, s.Branch)
	}
	return out
}

// An UpstreamSource is a job of a build server.
type UpstreamSource struct {
	URL, Ref    string // of the template and of the target
	Server, Job string
	Builds      []services.Build // newest first
	NotThere    bool             // the server has no such job
	Unknown     string           // why nobody knows the builds
}

// Signal returns the signal of the job: its newest build that succeeded. Builds that failed after
// it do not hide it.
func (s UpstreamSource) Signal() Signal {
	out := Signal{Kind: Upstream, Unknown: s.Unknown, Ref: s.Ref}
	builds := slices.Clone(s.Builds)
	slices.SortStableFunc(builds, func(a, b services.Build) int { return b.Number - a.Number })
	at := slices.IndexFunc(builds, func(b services.Build) bool { return b.Result == "SUCCESS" })
	switch {
	case s.Unknown != "":
		return out
	case s.NotThere:
		out.Wait = fmt.Sprintf("job %s of %s is not there", s.Job, s.Server)
	case len(builds) > 0 && builds[0].Result == "":
		out.Wait = fmt.Sprintf("build %d of job %s runs", builds[0].Number, s.Job)
	case len(builds) == 0:
		out.Wait = fmt.Sprintf("job %s has no build", s.Job)
	}
	if at < 0 {
		return out
	}
	b := builds[at]
	out.Value = strconv.Itoa(b.Number)
	out.Reason = fmt.Sprintf("%s/job/%s/%d", s.Server, s.Job, b.Number)
	if b.Commit != "" {
		out.Reason = s.URL + "/commit/" + b.Commit + " via " + out.Reason
		out.Ref = b.Commit
	}
	return out
}

// An ImageSource is a set of images that must exist for a commit.
type ImageSource struct {
	URL        string
	Branch     string
	Head       string   // commit of the branch, "" if there is no such branch
	HashLength int      // of the tag
	Images     []string // such as quay.io/org/name
	Patterns   []string // prefixes that images must have
	// Exists reports whether an image is there, and why nobody knows it.
	Exists  func(image string) (isThere bool, unknown string)
	Unknown string // why nobody knows the head
}

// Tag returns the tag of the images, "" if nobody knows it.
func (s ImageSource) Tag() string {
	if s.HashLength <= 0 {
		return s.Head
	}
	return s.Head[:min(len(s.Head), s.HashLength)]
}

// Signal returns the signal of the images: their tag if all of them exist.
func (s ImageSource) Signal() Signal {
	out := Signal{Kind: Image, Unknown: s.Unknown, Ref: s.Head}
	if out.Unknown == "" && s.Head == "" {
		out.Unknown = fmt.Sprintf("%s has no branch %q", s.URL, s.Branch)
	}
	if out.Unknown != "" {
		return out
	}
	var tagged, missing, unknown []string
	for _, image := range slices.Sorted(slices.Values(s.Images)) {
		name := image + ":" + s.Tag()
		tagged = append(tagged, name)
		if !s.matches(name) {
			missing = append(missing, name+" (no image pattern allows it)")
			continue
		}
		switch isThere, why := s.Exists(name); {
		case why != "":
			unknown = append(unknown, why)
		case !isThere:
			missing = append(missing, name)
		}
	}
	switch {
	case len(missing) > 0:
		out.Wait = "image " + strings.Join(missing, ", ") + " is not there"
	case len(unknown) > 0:
		out.Unknown = strings.Join(unknown, "; ")
	default:
		out.Value = s.Tag()
		out.Reason = fmt.Sprintf("%s/commit/%s build %s", s.URL, s.Head, strings.Join(tagged, ", "))
	}
	return out
}

// matches reports whether a pattern allows an image. No patterns allow all images.
func (s ImageSource) matches(image string) bool {
	return len(s.Patterns) == 0 || slices.ContainsFunc(s.Patterns, func(p string) bool {
		return strings.HasPrefix(image, p)
	})
}
