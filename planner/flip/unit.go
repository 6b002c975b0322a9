package flip

import (
	"errors"
	"slices"
	"strconv"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// A unit is one change to a bundle: to a field, or to a file as a whole.
type unit struct {
	plan.FlipChange
	pointer string // of the field; "" for the file as a whole
	value   any    // of the field
	absent  bool   // the field is taken out
	raw     []byte // of the file; nil takes it out
}

// changesOf returns what units change.
func changesOf(units []unit) []plan.FlipChange {
	var out []plan.FlipChange
	for _, u := range units {
		out = append(out, u.FlipChange)
	}
	return out
}

// errNoField is the error for a field that is not there.
var errNoField = errors.New("there is no such field")

// patched returns a bundle with units applied. If a unit changes the GraphQL types, they
// become those of the bundle types.
func patched(b, types *bundle.Bundle, units []unit) (*bundle.Bundle, error) {
	p := bundle.Patch{Datafiles: map[bundle.Path][]byte{}, Resources: map[bundle.Path][]byte{},
		Schemas: map[bundle.Path][]byte{}}
	files := map[plan.FlipPart]map[bundle.Path][]byte{plan.PartDatafile: p.Datafiles, plan.PartResource: p.Resources,
		plan.PartSchema: p.Schemas}
	objects := map[string]*bundle.Object{}
	for _, u := range units {
		path := bundle.Path(u.Path)
		switch {
		case u.Part == plan.PartTypes:
			p.Types = types
			continue
		case u.pointer == "":
			files[u.Part][path] = u.raw
			continue
		}
		key := string(u.Part) + u.Path
		if objects[key] == nil {
			find := map[plan.FlipPart]func(bundle.Path) (*bundle.File, bool){plan.PartDatafile: b.Datafile,
				plan.PartResource: b.Resource}[u.Part]
			f, ok := find(path)
			if !ok {
				return nil, errNoField
			}
			objects[key] = f.Decode()
		}
		changed, ok := u.applyTo(objects[key], jsonpointer.Split(u.pointer))
		if !ok {
			return nil, errNoField
		}
		objects[key], _ = changed.(*bundle.Object)
		files[u.Part][path] = bundle.AppendJSON(nil, objects[key])
	}
	return b.Patched(p)
}

// applyTo returns a value with the field changed to which steps lead. It may change the value.
func (u unit) applyTo(v any, steps []string) (any, bool) {
	if len(steps) == 0 {
		return u.value, true
	}
	switch v := v.(type) {
	case *bundle.Object:
		if len(steps) == 1 && u.absent {
			members := slices.DeleteFunc(slices.Clone(v.Members()), func(m bundle.Member) bool { return m.Key == steps[0] })
			return bundle.NewObject(members...), true
		}
		below, has := v.Get(steps[0])
		if !has && len(steps) > 1 {
			return nil, false
		}
		changed, ok := u.applyTo(below, steps[1:])
		if ok {
			v.Set(steps[0], changed)
		}
		return v, ok
	case []any:
		i, err := strconv.Atoi(steps[0])
		if err != nil || i < 0 || i >= len(v) {
			return nil, false
		}
		changed, ok := u.applyTo(v[i], steps[1:])
		if ok {
			v[i] = changed
		}
		return v, ok
	}
	return nil, false
}
