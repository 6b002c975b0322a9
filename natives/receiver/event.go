package receiver

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// Name returns the name of a thing as it is compared: an address without scheme, user and .git, in lower case, or any
// other text in lower case.
func Name(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	if at, err := url.Parse(text); err == nil && at.Host != "" {
		text = at.Host + at.Path
	}
	return strings.TrimSuffix(strings.TrimRight(text, "/"), ".git")
}

// errNoEvent says that a body names nothing.
var errNoEvent = errors.New("the body is no event that is known here: a push of GitHub or GitLab, or a CloudEvent")

// A body is what is read of an event. Forges name the repository, CloudEvents a source and a subject.
type body struct {
	Repository struct {
		CloneURL string `json:"clone_url"` // of GitHub
		HTMLURL  string `json:"html_url"`
		GitHTTP  string `json:"git_http_url"` // of GitLab
		Homepage string `json:"homepage"`
	} `json:"repository"`
	Project struct {
		GitHTTP string `json:"git_http_url"` // of GitLab
		WebURL  string `json:"web_url"`
	} `json:"project"`
	ID      string `json:"id"` // of a CloudEvent
	Source  string `json:"source"`
	Subject string `json:"subject"`
	Version string `json:"specversion"`
}

// namesOf returns the names that an event is about. An event that changes nothing, such as the first one of GitHub, has
// none. Of a signed event no header names anything.
func namesOf(r *http.Request, raw []byte, isSigned bool) ([]string, error) {
	if r.Header.Get("X-GitHub-Event") == "ping" {
		return nil, nil
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if id := r.Header.Get("Ce-Id"); !isSigned && id != "" && r.Header.Get("Ce-Specversion") != "" {
		return listed(r.Header.Get("Ce-Source"), r.Header.Get("Ce-Subject"))
	}
	if kind == "application/cloudevents-batch+json" {
		var all []body
		if err := json.Unmarshal(raw, &all); err != nil {
			return nil, errNoEvent
		}
		var out []string
		for _, b := range all {
			names, err := b.names()
			if err != nil {
				return nil, err
			}
			out = append(out, names...)
		}
		return out, nil
	}
	if kind == "application/x-www-form-urlencoded" {
		form, err := url.ParseQuery(string(raw))
		if err != nil {
			return nil, errNoEvent
		}
		raw = []byte(form.Get("payload")) // as GitHub sends it unless told otherwise
	}
	var b body
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, errNoEvent
	}
	return b.names()
}

// names returns what a body is about.
func (b body) names() ([]string, error) {
	if b.Version != "" && b.ID != "" {
		return listed(b.Source, b.Subject)
	}
	return listed(b.Repository.CloneURL, b.Repository.HTMLURL, b.Repository.GitHTTP, b.Repository.Homepage,
		b.Project.GitHTTP, b.Project.WebURL)
}

// listed returns names as they are compared.
func listed(texts ...string) ([]string, error) {
	var out []string
	for _, text := range texts {
		if name := Name(text); name != "" {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return nil, errNoEvent
	}
	return out, nil
}
