package rules

import (
	"slices"

	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// The schemas of the files that rules are made of.
const (
	typeSchema = "/app-interface/change-type-1.yml"
	roleSchema = "/access/role-1.yml"
	userSchema = "/access/user-1.yml"
	botSchema  = "/access/bot-1.yml"
)

// Read returns the rules that a bundle has, for a day written as 2006-01-02.
func Read(b *bundle.Bundle, today string) Input {
	r := &reader{b: b, types: map[string]string{}, in: Input{Today: today, People: map[string]Person{}}}
	for _, f := range b.BySchema(typeSchema) {
		r.types[string(f.Path)] = f.Object().String("name")
	}
	for _, f := range b.BySchema(typeSchema) {
		r.changeType(f)
	}
	members := r.members()
	for _, f := range b.BySchema(roleSchema) {
		if role := f.Object(); len(list(role, "self_service")) > 0 {
			r.role(f, members[string(f.Path)])
		}
	}
	return r.in
}

// Has reports whether a bundle has change types.
func Has(b *bundle.Bundle) bool { return len(b.BySchema(typeSchema)) > 0 }

// HasPerson returns whether a bundle has a user or a bot with a path.
func HasPerson(b *bundle.Bundle) func(path string) bool {
	return func(path string) bool {
		f, isThere := b.Datafile(bundle.Path(path))
		return isThere && (f.Schema == userSchema || f.Schema == botSchema)
	}
}

// A reader reads the rules of a bundle.
type reader struct {
	b     *bundle.Bundle
	types map[string]string // names by path
	in    Input
}

func list(o *bundle.Object, key string) []any {
	v, _ := o.Get(key)
	items, _ := v.([]any)
	return items
}

// objects returns the objects in a list.
func objects(o *bundle.Object, key string) (out []*bundle.Object) {
	for _, item := range list(o, key) {
		if of, isObject := item.(*bundle.Object); isObject {
			out = append(out, of)
		}
	}
	return out
}

// texts returns the texts in a list.
func texts(o *bundle.Object, key string) (out []string) {
	for _, item := range list(o, key) {
		text, _ := item.(string)
		out = append(out, text)
	}
	return out
}

func isTrue(o *bundle.Object, key string) bool {
	v, _ := o.Get(key)
	return v == true
}

func object(o *bundle.Object, key string) *bundle.Object {
	v, _ := o.Get(key)
	of, isObject := v.(*bundle.Object)
	if !isObject {
		return bundle.NewObject()
	}
	return of
}

// named returns the names of change types that references name. A reference to no change type keeps its path, which is
// the name of none.
func (r *reader) named(refs []*bundle.Object) (out []string) {
	for _, ref := range refs {
		path := ref.String("$ref")
		if name, isThere := r.types[path]; isThere {
			path = name
		}
		out = append(out, path)
	}
	return out
}

// changeType reads a change type.
func (r *reader) changeType(f *bundle.File) {
	o := f.Object()
	t := ChangeType{File: string(f.Path), Name: o.String("name"), Priority: o.String("priority"),
		ContextType: content.Kind(o.String("contextType")), ContextSchema: o.String("contextSchema"),
		Disabled: isTrue(o, "disabled"), Restrictive: isTrue(o, "restrictive"), Inherit: r.named(objects(o, "inherit"))}
	_, t.IsLogged = object(o, "labels").Get("change_log_tracking")
	for _, c := range objects(o, "changes") {
		rule := ChangeRule{Schema: c.String("changeSchema"), Selectors: texts(c, "jsonPathSelectors"),
			Types: r.named(objects(c, "changeTypes"))}
		if context := object(c, "context"); context.Len() > 0 {
			rule.Context = &ContextRule{context.String("selector"), context.String("when"), context.String("where")}
		}
		t.Changes = append(t.Changes, rule)
	}
	for _, i := range objects(o, "implicitOwnership") {
		t.Implicit = append(t.Implicit, i.String("jsonPathSelector"))
	}
	r.in.Types = append(r.in.Types, t)
}

// A member is somebody who refers to a role.
type member struct {
	Person
	isBot bool
}

// members reads users and bots, and returns them by the path of their roles.
func (r *reader) members() map[string][]member {
	out := map[string][]member{}
	for _, schema := range []bundle.SchemaPath{userSchema, botSchema} {
		for _, f := range r.b.BySchema(schema) {
			o := f.Object()
			m := member{Person{Name: o.String("org_username"), IsTagged: isTrue(o, "tag_on_merge_requests")},
				schema == botSchema}
			if m.Name != "" {
				r.in.People[string(f.Path)] = m.Person
			}
			for _, role := range objects(o, "roles") {
				path := role.String("$ref")
				out[path] = append(out[path], m)
			}
		}
	}
	return out
}

// role reads a role that binds change types.
func (r *reader) role(f *bundle.File, members []member) {
	o := f.Object()
	role := Role{File: string(f.Path), Name: o.String("name"), Expires: o.String("expirationDate"),
		Labels: OwnerLabels(object(o, "labels").String("change-owners-labels"))}
	for _, m := range members {
		role.HasBots = role.HasBots || m.isBot
		if m.Name != "" {
			role.People = append(role.People, m.Person)
		}
	}
	for _, s := range objects(o, "memberSources") {
		role.Sources = append(role.Sources, r.source(s))
	}
	for _, p := range objects(o, "permissions") {
		if where := r.reach(p.String("$ref")); where != "" && !slices.Contains(role.Reach, where) {
			role.Reach = append(role.Reach, where)
		}
	}
	for _, s := range objects(o, "self_service") {
		bind := Bind{Resources: texts(s, "resources")}
		if names := r.named([]*bundle.Object{object(s, "change_type")}); len(names) > 0 {
			bind.Type = names[0]
		}
		for _, d := range objects(s, "datafiles") {
			path := d.String("$ref")
			ref := content.Ref{Kind: content.Datafile, Path: path}
			if of, isThere := r.b.Datafile(bundle.Path(path)); isThere {
				ref.Schema = string(of.Schema)
			}
			bind.Datafiles = append(bind.Datafiles, ref)
		}
		role.Binds = append(role.Binds, bind)
	}
	r.in.Roles = append(r.in.Roles, role)
}

// source reads a source of members.
func (r *reader) source(o *bundle.Object) MemberSource {
	out := MemberSource{Group: o.String("group")}
	f, isThere := r.b.Datafile(bundle.Path(object(o, "provider").String("$ref")))
	if !isThere {
		return out
	}
	of := object(f.Object(), "source")
	out.File, out.Provider = string(f.Path), f.Object().String("name")
	out.Kind, out.URL = of.String("provider"), of.String("url")
	return out
}

// reach says where the people of a permission can be reached, "" if nowhere.
func (r *reader) reach(path string) string {
	f, isThere := r.b.Datafile(bundle.Path(path))
	if !isThere {
		return ""
	}
	o := f.Object()
	switch o.String("service") {
	case "slack-usergroup":
		text := "Slack group " + o.String("handle")
		if channels := texts(o, "channels"); len(channels) > 0 {
			text += " in channel " + channels[0]
		}
		if w, isThere := r.b.Datafile(bundle.Path(object(o, "workspace").String("$ref"))); isThere {
			text += " (workspace " + w.Object().String("name") + ")"
		}
		return text
	case "gitlab-group-membership":
		return "GitLab group " + o.String("group")
	}
	return ""
}
