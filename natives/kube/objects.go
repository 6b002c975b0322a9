package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/integration"
)

// Objects reads the objects of a cluster. It implements [integration.ClusterReader].
type Objects struct{ c *Connection }

// A header has the fields that all objects and lists have.
type header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name            string `json:"name"`
		Namespace       string `json:"namespace"`
		UID             string `json:"uid"`
		ResourceVersion string `json:"resourceVersion"`
		Continue        string `json:"continue"`
	} `json:"metadata"`
}

// Get implements [integration.ClusterReader].
func (o *Objects) Get(ctx context.Context, ref integration.ObjectRef) (json.RawMessage, error) {
	of := Call{Method: http.MethodGet, Verbs: "get", Ref: ref}
	if ref.Name == "" {
		return nil, o.c.Refuse(of, "the object has no name")
	}
	return o.c.Object(ctx, of)
}

// Log implements [integration.LogReader].
func (o *Objects) Log(ctx context.Context, namespace, pod, container string, limit int) ([]byte, error) {
	return o.c.Send(ctx, Call{Method: http.MethodGet, Verbs: "get", Accept: "text/plain, */*",
		Path:  []string{"api", "v1", "namespaces", namespace, "pods", pod, "log"},
		Query: url.Values{"container": {container}, "limitBytes": {strconv.Itoa(min(limit, o.c.largest))}}})
}

// Object sends a request whose answer is the object that it names.
func (c *Connection) Object(ctx context.Context, of Call) (json.RawMessage, error) {
	raw, err := c.Send(ctx, of)
	if err != nil {
		return nil, err
	}
	if err := CheckObject(raw, of.Ref); err != nil {
		return nil, c.Wrong(of, "the answer is not this object: "+err.Error())
	}
	return raw, nil
}

// CheckObject returns an error if raw is not the object that ref names, as it is kept.
func CheckObject(raw []byte, ref integration.ObjectRef) error {
	is, err := nameOf(raw, ref)
	if err == nil && (is.APIVersion == "" || is.Kind == "") {
		err = errors.New("it does not say what it is")
	}
	if err == nil && (is.Metadata.UID == "" || is.Metadata.ResourceVersion == "") {
		err = errors.New("it has no uid and resourceVersion")
	}
	return err
}

// CheckName returns an error if raw is another object than ref names.
func CheckName(raw []byte, ref integration.ObjectRef) error {
	_, err := nameOf(raw, ref)
	return err
}

// nameOf returns the header of an object, or an error if raw is another object than ref names. The objects of a list do
// not say of which type they are.
func nameOf(raw []byte, ref integration.ObjectRef) (header, error) {
	var is header
	if err := json.Unmarshal(raw, &is); err != nil {
		return is, err
	}
	m := is.Metadata
	switch {
	case is.APIVersion != "" && is.APIVersion != apiVersion(ref.Resource):
		return is, fmt.Errorf("it is %.100q of %.100q", is.Kind, is.APIVersion)
	case m.Name != ref.Name || m.Namespace != ref.Namespace:
		return is, fmt.Errorf("its name is %.100q in namespace %.100q", m.Name, m.Namespace)
	}
	return is, nil
}

func apiVersion(r integration.Resource) string {
	if r.Group == "" {
		return r.Version
	}
	return r.Group + "/" + r.Version
}

// Limits of a list.
const (
	pageSize = 500  // objects in one answer
	maxPages = 1000 // answers of one list
)

// List implements [integration.ClusterReader].
func (o *Objects) List(ctx context.Context, of integration.Resource,
	namespace, labels string) ([]json.RawMessage, error) {
	all, err := o.list(ctx, of, namespace, labels)
	if errors.Is(err, errGone) {
		all, err = o.list(ctx, of, namespace, labels)
	}
	return all, err
}

// list reads all pages of a list. They all show the cluster at the same moment.
func (o *Objects) list(ctx context.Context, of integration.Resource,
	namespace, labels string) ([]json.RawMessage, error) {
	get := Call{Method: http.MethodGet, Verbs: "list", Ref: integration.ObjectRef{Resource: of, Namespace: namespace},
		Query: url.Values{"limit": {strconv.Itoa(pageSize)}}}
	if labels != "" {
		get.Query.Set("labelSelector", labels)
	}
	all, size, at := []json.RawMessage{}, 0, ""
	for range maxPages {
		raw, err := o.c.Send(ctx, get)
		if err != nil {
			return nil, err
		}
		items, page, err := checkPage(raw, get.Ref)
		if size += len(raw); err == nil && size > 2*o.c.largest {
			err = fmt.Errorf("it has more than %d MB; name fewer objects with labels", 2*o.c.largest>>20)
		}
		if err == nil && at != "" && page.ResourceVersion != at {
			err = errors.New("its pages show different moments")
		}
		if err != nil {
			return nil, o.c.explain(get, &trouble{text: "the list is not whole: " + err.Error()})
		}
		all, at = append(all, items...), page.ResourceVersion
		if page.Continue == "" {
			return all, nil
		}
		get.Query.Set("continue", page.Continue)
	}
	return nil, o.c.explain(get, &trouble{text: fmt.Sprintf("the list has more than %d pages", maxPages)})
}

// A page is what one answer of a list says about the list.
type page struct{ Continue, ResourceVersion string }

// checkPage returns the objects of one page of a list.
func checkPage(raw []byte, ref integration.ObjectRef) ([]json.RawMessage, page, error) {
	var is struct {
		header
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(raw, &is); err != nil {
		return nil, page{}, err
	}
	switch {
	case is.APIVersion != apiVersion(ref.Resource) || !strings.HasSuffix(is.Kind, "List"):
		return nil, page{}, fmt.Errorf("it is %.100q of %.100q", is.Kind, is.APIVersion)
	case is.Items == nil:
		return nil, page{}, errors.New("it has no items")
	}
	for _, item := range is.Items {
		var one header
		if err := json.Unmarshal(item, &one); err != nil {
			return nil, page{}, err
		}
		m := one.Metadata
		if m.Name == "" || m.UID == "" || m.ResourceVersion == "" || ref.Namespace != "" && m.Namespace != ref.Namespace {
			return nil, page{}, fmt.Errorf("it has an object %.100q in namespace %.100q that does not belong there", m.Name,
				m.Namespace)
		}
	}
	return is.Items, page{is.Metadata.Continue, is.Metadata.ResourceVersion}, nil
}
