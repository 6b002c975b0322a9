package manager

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/natives/manager/render"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// A body is what an object should be: the body of an item.
type body struct {
	Integration string           `json:"integration,omitempty"` // "" is the Service, which all share
	Object      manifests.Object `json:"object,omitempty"`      // with values that are open until Complete
	Late        map[string]late  `json:"late,omitempty"`        // the open values of the object
	Await       bool             `json:"await,omitempty"`       // it must be ready before others are written
}

// maxProcesses bounds the objects of all parts together: a change could ask for any number.
const maxProcesses = 20000

// itemKey returns the key of the item of an object.
func itemKey(shard string, o manifests.Object) reconcile.Key {
	meta, _ := o["metadata"].(manifests.Object)
	return reconcile.Key(fmt.Sprintf("%s/%v/%v", shard, o["kind"], meta["name"]))
}

// mistakeKey returns the key of the item that stands for all objects of an integration, because
// they cannot be rendered. One with several mistakes has several such items.
func mistakeKey(shard, name string, number int) reconcile.Key {
	key := shard + "/Integration/" + name
	if number > 0 {
		key += "/" + strconv.Itoa(number+1)
	}
	return reconcile.Key(key)
}

// mistakeItem returns an item that keeps the objects of an integration as they are.
func mistakeItem(shard string, d *definition, m mistake, number int) reconcile.Item {
	return reconcile.Item{
		Key: mistakeKey(shard, d.Name, number), Body: body{Integration: d.Name},
		Place:   plan.Place{File: d.Path, Pointer: m.pointer},
		Mistake: reconcile.Mistake{Code: m.code, Message: m.message},
	}
}

// items returns the items of a group.
func (b *builder) items(g *group, values params) []reconcile.Item {
	shard := g.namespace.key()
	var out []reconcile.Item
	numbers := map[string]int{} // of mistakes, by integration
	for _, e := range g.entries {
		items, mistakes := b.entryItems(g, e, values)
		for _, m := range mistakes {
			if m.warning {
				b.tell(m.finding(e.definition.Path))
				continue
			}
			items = append(items, mistakeItem(shard, e.definition, m, numbers[e.definition.Name]))
			numbers[e.definition.Name]++
		}
		out = append(out, items...)
	}
	if g.service != "" {
		o := inNamespace(render.Service(), g.namespace.Name)
		out = append(out, reconcile.Item{Key: itemKey(shard, o), Body: body{Object: o}, Delete: g.service == serviceGoes,
			Place: plan.Place{File: g.entries[0].definition.Path, Pointer: g.entries[0].pointer()}})
	}
	return b.selfLast(out)
}

// selfLast lets the objects of the manager itself come after all others of a part.
func (b *builder) selfLast(items []reconcile.Item) []reconcile.Item {
	isSelf := func(it reconcile.Item) bool { return it.Body.(body).Integration == b.self }
	var others []reconcile.Key
	for _, it := range items {
		if !isSelf(it) {
			others = append(others, it.Key)
		}
	}
	for i := range items {
		if isSelf(items[i]) {
			items[i].After = others
		}
	}
	return items
}

// entryItems returns the items of an entry. It has none if a mistake is no warning.
func (b *builder) entryItems(g *group, e placed, values params) ([]reconcile.Item, []mistake) {
	if e.mistake != (mistake{}) {
		return nil, []mistake{e.mistake}
	}
	shards, m := b.shardsOf(e)
	if m != nil {
		return nil, []mistake{*m}
	}
	if len(shards) == 0 {
		return nil, []mistake{{code: codeSharding, pointer: e.pointer() + "/sharding", warning: true,
			message: "no object is a shard of it, so it runs nowhere"}}
	}
	of := render.Integration{Name: e.definition.Name, Spec: e.entry.Spec.Spec, Shards: shards}
	switch {
	case e.isDelete:
		of = identityOf(of)
	case of.Spec.Resources == nil: // a spec that is no object looks like this
		return nil, []mistake{{code: codeRender, pointer: e.pointer() + "/spec",
			message: "it has no resources, which each spec must have: is it an object?"}}
	}
	objects, wrong := render.Objects(of, values.values, b.options(e.definition.Name))
	mistakes := renderMistakes(wrong, e.pointer())
	if len(objects) == 0 && len(mistakes) == 0 {
		mistakes = []mistake{{code: codeRender, pointer: e.pointer(), message: "it has no objects"}}
	}
	items := make([]reconcile.Item, len(objects))
	for i, o := range objects {
		made := body{Integration: of.Name, Object: inNamespace(o, g.namespace.Name)}
		noted := share{integration: of.Name}
		if len(shards) == len(objects) {
			noted = share{of.Name, shards[i].Key, shards[i].Shards, shards[i].ID}
		}
		made.Object = withShare(made.Object, noted)
		var err error
		if made.Late, err = values.usedBy(o, of); err != nil {
			return nil, []mistake{{code: codeRender, pointer: e.pointer(), message: err.Error()}}
		}
		if e.isDelete {
			made.Object, made.Late = nameOf(made.Object), nil
		}
		items[i] = reconcile.Item{Key: itemKey(g.namespace.key(), o), Body: made, Delete: e.isDelete,
			Place: plan.Place{File: e.definition.Path, Pointer: e.pointer()}}
	}
	if e.isDelete {
		return items, mistakes
	}
	b.checkOverrides(e)
	if len(objects) == len(shards) {
		b.holdBack(items, shards, e)
	}
	return items, mistakes
}

// nameOf returns an object with nothing but its name.
func nameOf(o manifests.Object) manifests.Object {
	meta := field(o, "metadata")
	return manifests.Object{
		"apiVersion": o["apiVersion"], "kind": o["kind"],
		"metadata": manifests.Object{"name": meta["name"], "namespace": meta["namespace"]},
	}
}

// identityOf returns an integration whose objects have the same names and kinds, and nothing
// else of it that could be wrong: nobody looks at the spec of an entry that must go.
func identityOf(of render.Integration) render.Integration {
	spec := render.Spec{Cache: of.Spec.Cache}
	if of.Spec.Cron != "" {
		spec.Cron = "0 0 * * *"
	}
	spec.Resources = &render.Resources{}
	spec.Resources.Requests.CPU, spec.Resources.Requests.Memory, spec.Resources.Limits.Memory = "1", "1Mi", "1Mi"
	of.Spec, of.Shards = spec, slices.Clone(of.Shards)
	for i := range of.Shards {
		of.Shards[i].ImageRef, of.Shards[i].Resources = "", nil
	}
	return of
}

// options returns how the objects of an integration are rendered.
func (b *builder) options(name string) render.Options {
	o := render.Options{Parity: b.settings.Mode == modeParity, GovSlack: b.settings.GovSlack, Pod: b.pod, Self: b.self}
	if b.settings.isNative(name) {
		o.Process = &render.NativeProcess{Image: b.settings.Natives.Image, Args: b.settings.Natives.Args}
	}
	return o
}

// shardsOf returns the processes of an entry.
func (b *builder) shardsOf(e placed) ([]render.Shard, *mistake) {
	wrong := func(err error) ([]render.Shard, *mistake) {
		return nil, &mistake{code: codeSharding, pointer: e.pointer() + "/sharding", message: err.Error()}
	}
	managed, err := sharding.ReadManaged(e.entry.raw)
	if err != nil {
		return wrong(err)
	}
	specs, err := sharding.Specs(e.definition.Name, b.settings.optionsOf(e.definition.Name), managed, b.world.objects)
	if err != nil {
		return wrong(err)
	}
	if b.processes += len(specs); b.processes > maxProcesses {
		return wrong(fmt.Errorf("there are more than %d processes in all", maxProcesses))
	}
	out := make([]render.Shard, len(specs))
	for i, s := range specs {
		out[i] = render.Shard{Shards: s.Shards, ID: s.ID, Key: s.Key, Suffix: s.Suffix, ExtraArgs: s.ExtraArgs,
			Disabled: s.Disabled}
		if s.Override != nil {
			o := e.entry.Sharding.ShardSpecOverrides[s.OverrideAt]
			out[i].ImageRef, out[i].Resources = o.ImageRef, o.Resources
			out[i].Override = fmt.Sprintf("/sharding/shardSpecOverrides/%d", s.OverrideAt)
		}
	}
	return out, nil
}

// checkOverrides tells the overrides that have no effect. The integration runs without them.
func (b *builder) checkOverrides(e placed) {
	managed, err := sharding.ReadManaged(e.entry.raw)
	if err != nil {
		return // it was read before
	}
	for _, m := range sharding.CheckOverrides(e.definition.Name, managed, b.world.objects) {
		at := fmt.Sprintf("%s/sharding/shardSpecOverrides/%d", e.pointer(), m.At)
		b.tell(mistake{code: codeOverride, pointer: at, message: m.Message}.finding(e.definition.Path))
	}
}

// holdBack lets the shards of an integration wait for those that the settings name as canaries.
func (b *builder) holdBack(items []reconcile.Item, shards []render.Shard, e placed) {
	keys := b.settings.Canary[e.definition.Name]
	if len(keys) == 0 {
		return
	}
	isCanary := func(s render.Shard) bool {
		return slices.Contains(keys, s.Key) || s.Key == "" && slices.Contains(keys, s.ID)
	}
	var canaries []reconcile.Key
	for i, s := range shards {
		if isCanary(s) {
			canaries = append(canaries, items[i].Key)
		}
	}
	if len(canaries) == 0 {
		b.tell(mistake{code: codeCanary, pointer: e.pointer(), warning: true,
			message: "none of its shards is a canary, although the settings name " +
				strings.Join(keys, ", ")}.finding(e.definition.Path))
		return
	}
	for i, s := range shards {
		if !isCanary(s) {
			items[i].Needs = canaries
			continue
		}
		made := items[i].Body.(body)
		made.Await = true
		items[i].Body = made
	}
}

// inNamespace returns an object in a namespace.
func inNamespace(o manifests.Object, namespace string) manifests.Object {
	meta, _ := o["metadata"].(manifests.Object)
	meta = maps.Clone(meta)
	if meta == nil {
		meta = manifests.Object{}
	}
	meta["namespace"] = namespace
	o = maps.Clone(o)
	if o == nil {
		o = manifests.Object{}
	}
	o["metadata"] = meta
	return o
}
