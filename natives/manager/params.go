package manager

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/natives/manager/render"
)

// Parameters that decide about the image, and the one that says which commits run.
const (
	imageParameter  = "IMAGE"
	tagParameter    = "IMAGE_TAG"
	digestParameter = "IMAGE_DIGEST"
	reposParameter  = "INTEGRATION_UPSTREAM_REPOS"
)

// A late value is known only when the manager runs: a variable of its process, or the commit of
// a ref.
type late struct {
	Default *string `json:"default,omitempty"` // of a variable that is not set
	Repo    string  `json:"repo,omitempty"`    // of a ref, such as https://github.com/a/b
	Ref     string  `json:"ref,omitempty"`
	Length  int     `json:"length,omitempty"` // of the abbreviated commit
}

// Params are the values of parameters for the integrations of one upstream in one environment.
type params struct {
	values map[string]string
	late   map[string]late
}

// paramsOf returns the parameters for an upstream in an environment. Later sources win: the
// parameters of the environment, variables of the process, the commit of a ref in the
// environment, the commit of a ref in the settings.
func (b *builder) paramsOf(env environment, upstream string) (params, *mistake) {
	wrong := func(pointer, message string) (params, *mistake) {
		return params{}, &mistake{code: codeParameters, pointer: pointer, message: message}
	}
	values, repos, err := readParameters(env.Parameters)
	if err != nil {
		return wrong("/parameters", err.Error())
	}
	p := params{values: values, late: map[string]late{}}
	for _, name := range b.settings.PassEnv {
		p.setLate(name, late{})
	}
	if b.settings.Image != "" {
		p.set(imageParameter, b.settings.Image)
	}
	ref, err := refOf(repos, upstream)
	if err != nil {
		return wrong("/parameters/"+reposParameter, err.Error())
	}
	if own := b.settings.ImageTagFromRef[env.Name]; own != "" {
		ref = own
	}
	if ref == "" {
		return p, nil
	}
	if b.world.hashLength < 1 || b.world.hashLength > fullHash {
		return wrong("/parameters",
			fmt.Sprintf("the tag of its images is a commit, but the settings of app-interface do not say how many digits of "+
				"it: hashLength is %d", b.world.hashLength))
	}
	p.set(digestParameter, "") // it would decide what runs, whatever the tag says
	if isCommit(ref) {
		p.set(tagParameter, ref[:b.world.hashLength])
	} else {
		p.setLate(tagParameter, late{Repo: upstream, Ref: ref, Length: b.world.hashLength})
	}
	return p, nil
}

// set gives a parameter a value.
func (p params) set(name, value string) {
	p.values[name] = value
	delete(p.late, name)
}

// setLate gives a parameter a value that is not known yet. The value that it has is the
// default.
func (p params) setLate(name string, l late) {
	if before, ok := p.values[name]; ok && l.Ref == "" {
		l.Default = &before
	}
	p.values[name] = render.Late(name)
	p.late[name] = l
}

// readParameters returns the parameters of an environment as texts, and the value that says
// which commits run. What is no text becomes JSON. Null is not given.
func readParameters(raw json.RawMessage) (map[string]string, json.RawMessage, error) {
	text := ""
	if json.Unmarshal(raw, &text) == nil && text != "" { // GraphQL hands over values of type json as a text
		raw = json.RawMessage(text)
	}
	out := map[string]string{}
	if len(raw) == 0 {
		return out, nil, nil
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return nil, nil, errors.New("the parameters of the environment must be a map of names to values")
	}
	for name, value := range values {
		if string(value) == "null" {
			continue
		}
		text, err := textOf(value)
		if err != nil {
			return nil, nil, fmt.Errorf("reading the parameter %.60q: %w", name, err)
		}
		out[name] = text
	}
	return out, values[reposParameter], nil
}

// textOf returns a value as a text: a text as it is, everything else as JSON.
func textOf(value json.RawMessage) (string, error) {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text, nil
	}
	var any any
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	if err := dec.Decode(&any); err != nil {
		return "", err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(any) // sorts the keys
	return strings.TrimSuffix(out.String(), "\n"), err
}

// refOf returns the ref of a repository in the list of an environment, "" if there is none. The
// list may be a text with JSON.
func refOf(raw json.RawMessage, repo string) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	text := ""
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	var list []struct{ Repo, Ref string }
	if json.Unmarshal(raw, &list) != nil {
		return "", fmt.Errorf("%s must be a list of entries with repo and ref", reposParameter)
	}
	out, seen := "", map[string]bool{}
	for i, entry := range list {
		if entry.Repo == "" {
			return "", fmt.Errorf("entry %d of %s has no repo", i, reposParameter)
		}
		if seen[entry.Repo] {
			return "", fmt.Errorf("%s has two entries for %.200q; remove one", reposParameter, entry.Repo)
		}
		seen[entry.Repo] = true
		if entry.Repo != repo {
			continue
		}
		if message := checkRef(entry.Ref); message != "" {
			return "", fmt.Errorf("the ref of %.200q in %s %s", repo, reposParameter, message)
		}
		out = entry.Ref
	}
	return out, nil
}
