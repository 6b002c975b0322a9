package members

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/origin"
	"github.com/app-sre/prcheck/owners/rules"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/qontract/live"
)

// kind is the only kind of a system that is known: another qontract-server.
const kind = "app-interface"

// query asks for the members of groups, which are roles there.
const query = `query Members($filter: JSON) {
  roles: roles_v1(filter: $filter) {
    name
    users { org_username tag_on_merge_requests }
    bots { org_username }
  }
}`

// The bounds of asking a source.
const (
	patience  = time.Minute
	maxAnswer = 16 << 20
)

// errSlow is the error about a source that takes too long.
var errSlow = fmt.Errorf("no answer within %s", patience)

// A system is a source with all groups that are asked of it.
type system struct {
	rules.MemberSource // without a group
	groups             []string
}

// Variable returns the name of the variable that has what a system wants as Authorization.
func Variable(provider string) string {
	return "PRCHECK_MEMBERS_" + strings.ToUpper(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, provider))
}

// ask returns the members of the groups of a system. The error is one of [live.IsSilent], or errSlow, if it is silent.
func (s system) ask(ctx context.Context, authorization string,
	by http.RoundTripper) (map[string][]rules.Person, error) {
	if _, err := origin.Server(s.URL); err != nil {
		return nil, fmt.Errorf("its url: %w", err)
	}
	server, err := live.ParseServer(s.URL, live.Connection{Authorization: authorization, Transport: by})
	if err != nil {
		return nil, fmt.Errorf("its url: %w", err)
	}
	limited, cancel := context.WithTimeoutCause(ctx, patience, errSlow)
	defer cancel()
	reply, err := server.Newest().Ask(limited, s.request(), maxAnswer)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, s.refused(err)
	}
	res, err := gql.ReadResponse(reply.Status, reply.Body)
	switch {
	case err != nil:
		return nil, err
	case len(res.Errors) > 0:
		return nil, fmt.Errorf("it answers with an error: %.200q", res.Errors[0].Message)
	}
	return s.read(res.Data)
}

// refused says how to give a source what it wants.
func (s system) refused(err error) error {
	var status *live.StatusError
	if errors.As(err, &status) && (status.Status == http.StatusUnauthorized || status.Status == http.StatusForbidden) {
		return fmt.Errorf("it refuses the authorization in %s, with status %d", Variable(s.Provider), status.Status)
	}
	return err
}

func (s system) request() gql.Request {
	var names []any
	for _, name := range s.groups {
		names = append(names, name)
	}
	in, filter, variables := bundle.NewObject(), bundle.NewObject(), bundle.NewObject()
	in.Set("in", names)
	filter.Set("name", in)
	variables.Set("filter", filter)
	return gql.Request{Query: query, Variables: variables}
}

// read reads an answer. A group that the system does not have has no members.
func (s system) read(data any) (map[string][]rules.Person, error) {
	o, _ := data.(*bundle.Object)
	if o == nil {
		return nil, errors.New("its answer has no data")
	}
	v, _ := o.Get("roles")
	roles, isList := v.([]any)
	if !isList {
		return nil, errors.New("its answer has no list of roles")
	}
	out := map[string][]rules.Person{}
	for _, name := range s.groups {
		out[name] = nil
	}
	for _, item := range roles {
		role, isObject := item.(*bundle.Object)
		if !isObject {
			return nil, errors.New("its answer has a role that is none")
		}
		name := role.String("name")
		if !slices.Contains(s.groups, name) {
			return nil, fmt.Errorf("its answer has the role %.80q, which nobody asked for", name)
		}
		out[name] = append(out[name], people(role)...)
	}
	return out, nil
}

// people returns the users and bots of a role that have a name in the forge.
func people(role *bundle.Object) (out []rules.Person) {
	for _, key := range []string{"users", "bots"} {
		v, _ := role.Get(key)
		items, _ := v.([]any)
		for _, item := range items {
			if o, isObject := item.(*bundle.Object); isObject && o.String("org_username") != "" {
				isTagged, _ := o.Get("tag_on_merge_requests")
				out = append(out, rules.Person{Name: o.String("org_username"), IsTagged: isTagged == true})
			}
		}
	}
	return out
}

// systems returns the systems of sources with their groups, in the order of their names.
func systems(all []rules.MemberSource) []system {
	groups := map[rules.MemberSource][]string{}
	for _, s := range all {
		of := s
		of.Group = ""
		if !slices.Contains(groups[of], s.Group) {
			groups[of] = append(groups[of], s.Group)
		}
	}
	var out []system
	for _, of := range slices.SortedFunc(maps.Keys(groups), func(a, b rules.MemberSource) int {
		return strings.Compare(a.Provider+" "+a.File, b.Provider+" "+b.File)
	}) {
		slices.Sort(groups[of])
		out = append(out, system{of, groups[of]})
	}
	return out
}
