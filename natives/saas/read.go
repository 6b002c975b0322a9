package saas

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/pyjson"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/jsonpath"
)

// A reader makes the model of the answers.
type reader struct {
	settings Settings
	model    *Model

	apps         map[string]*App           // by path
	environments map[string]*Environment   // by path
	clusters     map[string]*Cluster       // by path
	namespaces   map[string]*Namespace     // by path
	providers    map[string]*Provider      // by path
	slos         map[string]*SLODocument   // by path
	broken       map[string]string         // why a datafile cannot be used, by path
	selectable   []namespaceAnswer         // what selectors choose from
	fields       map[string]map[string]any // of namespaces, as selectors see them, by path
	unread       string                    // why not all namespaces are known, "" if they are
	labels       map[string]any            // labels of apps and environments, by path
	answers      map[string]clusterAnswer  // by path

	matches  map[string]match         // of paths of selectors
	document map[string]any           // what paths of selectors choose from, nil before the first one
	byKey    map[[2]string]*Namespace // the namespaces in it
}

// Read asks for all that the data say about saas files. Mistakes in the data are findings of the
// model, and mark what they hold as broken. An error means that nothing is known.
func Read(ctx context.Context, query integration.QueryFunc, s Settings) (*Model, error) {
	lists := []list{fileList, appList, environmentList, clusterList, namespaceList, providerList, settingsList}
	known, err := askTypes(ctx, query)
	if err != nil {
		return nil, err
	}
	r := &reader{settings: s, model: &Model{Apps: map[string]*App{}}, broken: map[string]string{},
		matches: map[string]match{}}
	rows := map[string][]row{}
	for _, l := range []list{sloList, orgList, registryList, quayOrgList} { // older schemas do not have them
		if known["Query"][l.root] {
			lists = append(lists, l)
		}
	}
	if slices.Contains(lists, orgList) {
		r.model.orgs = map[string]bool{}
	}
	for _, l := range lists {
		if rows[l.root], err = l.ask(ctx, query, known); err != nil {
			return nil, err
		}
	}
	if err := r.readSettings(rows[settingsList.root]); err != nil {
		return nil, err
	}
	each(r, rows[orgList.root], func(_ string, a orgAnswer) {
		r.model.orgs[strings.TrimSuffix(strings.ToLower(a.URL), "/")] = true
	})
	r.readRegistries(lists, rows)
	r.readApps(rows[appList.root])
	r.readEnvironments(rows[environmentList.root])
	r.readClusters(rows[clusterList.root])
	r.readNamespaces(rows[namespaceList.root])
	r.readProviders(rows[providerList.root])
	r.readSLOs(rows[sloList.root])
	files := rows[fileList.root]
	for i := range files {
		r.readFile(ctx, query, &files[i])
	}
	r.model.known = known
	slices.SortFunc(r.model.Files, func(a, b *File) int {
		return strings.Compare(a.Name+"\x00"+a.Path, b.Name+"\x00"+b.Path)
	})
	hold(r.model)
	return r.model, nil
}

// each reads the rows of a list. A row with a mistake is told, and its datafile is broken.
func each[T any](r *reader, rows []row, do func(path string, answer T)) {
	for i := range rows {
		answer := decode[T](&rows[i])
		if r.isWrong(rows[i]) {
			continue
		}
		do(rows[i].path, answer)
	}
}

// isWrong reports whether a row has a mistake, and tells it.
func (r *reader) isWrong(of row) bool {
	if of.wrong == nil {
		return false
	}
	r.tell(of.finding())
	r.broken[of.path] = fmt.Sprintf("%s cannot be used: %s", of.path, of.wrong.message)
	return true
}

func (r *reader) tell(f plan.Finding) { r.model.Findings = append(r.model.Findings, f) }

// readSettings reads what the settings of app-interface say.
func (r *reader) readSettings(rows []row) error {
	for i := range rows {
		answer := decode[settingsAnswer](&rows[i])
		if w := rows[i].wrong; w != nil {
			return reconcile.Config(fmt.Errorf("%s%s: %s", rows[i].path, w.pointer, w.message))
		}
		r.model.HashLength = answer.HashLength
		for j, b := range answer.Blocks {
			labels, err := readLabels(&b.Labels)
			if err != nil {
				return reconcile.Config(fmt.Errorf("%s/imagePatternsBlockRules/%d/environmentLabelSelector: %w", rows[i].path, j,
					err))
			}
			r.model.Blocks = append(r.model.Blocks, BlockRule{Labels: labels, Patterns: b.Patterns})
		}
	}
	return nil
}

// readRegistries reads which organizations of registries the data name, if they have types for both.
func (r *reader) readRegistries(lists []list, rows map[string][]row) {
	if !slices.Contains(lists, registryList) || !slices.Contains(lists, quayOrgList) {
		return
	}
	r.model.registries, r.model.quayOrgs = map[string]bool{}, map[string]bool{}
	each(r, rows[registryList.root], func(_ string, a registryAnswer) { r.model.registries[a.URL] = true })
	each(r, rows[quayOrgList.root], func(_ string, a quayOrgAnswer) { r.model.quayOrgs[a.Instance.URL+"/"+a.Name] = true })
}

// readApps reads the apps.
func (r *reader) readApps(rows []row) {
	r.apps, r.labels = map[string]*App{}, map[string]any{}
	each(r, rows, func(path string, a appAnswer) {
		app := &App{Path: path, Name: a.Name, Owners: len(a.Owners), Roles: len(a.Roles), Components: map[string]Component{}}
		if a.Parent != nil {
			app.Parent = a.Parent.Name
		}
		for _, c := range a.Components {
			of := app.Components[c.URL] // the same repository may stand there twice
			of.Blocked, of.Hotfix = append(of.Blocked, c.Blocked...), append(of.Hotfix, c.Hotfix...)
			app.Components[c.URL] = of
		}
		r.readAnyLabels(path, a.Labels)
		r.apps[path], r.model.Apps[a.Name] = app, app
	})
}

// readAnyLabels notes the labels of a datafile for selectors.
func (r *reader) readAnyLabels(path string, text *string) {
	if text == nil {
		return
	}
	if v, err := pyjson.Read(*text); err == nil {
		r.labels[path] = v
	}
}

// readEnvironments reads the environments.
func (r *reader) readEnvironments(rows []row) {
	r.environments = map[string]*Environment{}
	each(r, rows, func(path string, a environmentAnswer) {
		labels, err := readLabels(a.Labels)
		if err == nil {
			_, err = readParameters(a.Parameters)
		}
		if err != nil {
			r.isWrong(row{path: path, wrong: &mistake{message: err.Error()}})
			return
		}
		r.readAnyLabels(path, a.Labels)
		r.environments[path] = &Environment{Path: path, Name: a.Name, Labels: labels, Parameters: a.Parameters,
			SecretParameters: a.SecretParameters.list()}
	})
}

// readLabels reads labels, a JSON text. A label that is no text counts as its JSON.
func readLabels(text *string) (map[string]string, error) {
	if text == nil {
		return nil, nil
	}
	v, err := pyjson.Read(*text)
	if err != nil {
		return nil, fmt.Errorf("reading labels: %w", err)
	}
	o, ok := v.(*pyjson.Object)
	if !ok {
		return nil, fmt.Errorf("labels must be an object, got %.40q", *text)
	}
	out := map[string]string{}
	for key, v := range o.Values {
		label, isText := v.(string)
		if !isText {
			label = pyjson.Compact(v)
		}
		out[key] = label
	}
	return out, nil
}

// readParameters reads parameters, a JSON object; nil if there are none.
func readParameters(text *string) (*pyjson.Object, error) {
	if text == nil {
		return nil, nil
	}
	v, err := pyjson.Read(*text)
	if err != nil {
		return nil, fmt.Errorf("reading parameters: %w", err)
	}
	out, ok := v.(*pyjson.Object)
	if !ok {
		return nil, fmt.Errorf("parameters must be an object, got %.40q", *text)
	}
	return out, nil
}

// readClusters reads the clusters.
func (r *reader) readClusters(rows []row) {
	r.clusters, r.answers = map[string]*Cluster{}, map[string]clusterAnswer{}
	each(r, rows, func(path string, a clusterAnswer) {
		c := &Cluster{Path: path, Name: a.Name, ConsoleURL: value(a.ConsoleURL), PrometheusURL: value(a.PrometheusURL),
			Ref:   integration.ClusterRef{Name: a.Name, Server: a.ServerURL, Insecure: value(a.Insecure)},
			Admin: a.Admin.ref(), Token: a.Token.ref()}
		if c.Token != nil {
			c.Ref.Token = *c.Token
		}
		if a.Disable != nil {
			c.Disabled = a.Disable.Integrations
		}
		switch {
		case a.JumpHost != nil:
			c.Problem = "the cluster is behind a jump host, which is not supported"
		case c.Token == nil && c.Admin == nil:
			c.Problem = "the cluster has no automationToken"
		}
		r.clusters[path], r.answers[path] = c, a
	})
}

// readNamespaces reads the namespaces.
func (r *reader) readNamespaces(rows []row) {
	r.namespaces, r.fields = map[string]*Namespace{}, map[string]map[string]any{}
	each(r, rows, func(path string, a namespaceAnswer) {
		for _, needed := range []string{a.App.Path, a.Environment.Path, a.Cluster.Path} {
			if why := r.broken[needed]; why != "" {
				r.broken[path], r.unread = why, why
				return
			}
		}
		n := &Namespace{Path: path, Name: a.Name, Environment: r.environments[a.Environment.Path],
			Cluster: r.clusters[a.Cluster.Path]}
		if app := r.apps[a.App.Path]; app != nil && n.Environment != nil && n.Cluster != nil {
			n.App = app.Name
		} else {
			r.isWrong(row{path: path, wrong: &mistake{message: "its app, environment or cluster is not among the data"}})
			return
		}
		r.namespaces[path], r.fields[path] = n, r.fieldsOf(a)
		r.selectable = append(r.selectable, a)
	})
	for _, of := range rows {
		if of.wrong != nil {
			r.unread = r.broken[of.path]
		}
	}
}

// readProviders reads the providers of pipelines.
func (r *reader) readProviders(rows []row) {
	r.providers = map[string]*Provider{}
	each(r, rows, func(path string, a providerAnswer) {
		p := &Provider{Path: path, Name: a.Name, Kind: a.Provider}
		if a.Defaults != nil {
			p.Template = a.Defaults.Templates.Deploy.Name
		}
		if a.Templates != nil {
			p.Template = a.Templates.Deploy.Name
		}
		if a.Namespace != nil {
			if why := r.broken[a.Namespace.Path]; why != "" {
				r.broken[path] = why
				return
			}
			if n := r.namespaces[a.Namespace.Path]; n != nil {
				p.Namespace = *n
			}
		}
		r.providers[path] = p
	})
}

// A match is what a path of a selector chose.
type match struct {
	namespaces []*Namespace
	err        error
}

// selectNamespaces returns the namespaces that a selector chooses, sorted by cluster and name: those
// of all paths of include without those of all paths of exclude. The mistake has a pointer below
// the target.
func (r *reader) selectNamespaces(a *selectorAnswer) ([]*Namespace, *mistake) {
	chosen := map[[2]string]*Namespace{}
	for i, path := range append(slices.Clone(a.Paths.Include), a.Paths.Exclude...) {
		isExclude := i >= len(a.Paths.Include)
		found, err := r.matching(path)
		if err != nil {
			pointer := fmt.Sprintf("/namespaceSelector/jsonPathSelectors/include/%d", i)
			if isExclude {
				pointer = fmt.Sprintf("/namespaceSelector/jsonPathSelectors/exclude/%d", i-len(a.Paths.Include))
			}
			return nil, &mistake{pointer, fmt.Sprintf("the path %.200q: %v", path, err)}
		}
		for _, n := range found {
			if isExclude {
				delete(chosen, n.key())
			} else {
				chosen[n.key()] = n
			}
		}
	}
	out := make([]*Namespace, 0, len(chosen))
	for _, n := range chosen {
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b *Namespace) int {
		return cmp.Or(strings.Compare(a.Cluster.Name, b.Cluster.Name), strings.Compare(a.Name, b.Name))
	})
	return out, nil
}

// key returns what selectors know a namespace by: its cluster and its name.
func (n *Namespace) key() [2]string { return [2]string{n.Cluster.Name, n.Name} }

// matching returns the namespaces that a path chooses. Each path is looked at once. A namespace
// that cannot be used makes every answer unknown.
func (r *reader) matching(path string) ([]*Namespace, error) {
	if m, known := r.matches[path]; known {
		return m.namespaces, m.err
	}
	var m match
	if r.unread != "" {
		m.err = errors.New(r.unread)
	} else {
		m.namespaces, m.err = r.search(path)
	}
	r.matches[path] = m
	return m.namespaces, m.err
}

// search returns the namespaces that a path chooses. What it chooses must be namespaces.
func (r *reader) search(text string) ([]*Namespace, error) {
	path, err := jsonpath.Parse(text)
	if err != nil {
		return nil, err
	}
	if r.document == nil {
		var list []any
		r.byKey = map[[2]string]*Namespace{}
		for _, a := range r.selectable {
			n := r.namespaces[a.Path]
			list, r.byKey[n.key()] = append(list, plain(r.fields[a.Path])), n
		}
		r.document = map[string]any{"namespace": list}
	}
	found, err := path.Find(r.document)
	if err != nil {
		return nil, err
	}
	var out []*Namespace
	for _, v := range found {
		name, _ := field(v, "name").(string)
		cluster, _ := field(field(v, "cluster"), "name").(string)
		n := r.byKey[[2]string{cluster, name}]
		if n == nil {
			return nil, errors.New("it chooses something that is no namespace; it must end with a namespace, such as " +
				"$.namespace[?@.app.name=\"shop\"]")
		}
		out = append(out, n)
	}
	return out, nil
}

// plain returns a value without the order of its fields, and without fields that are null.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			if member != nil {
				out[name] = plain(member)
			}
		}
		return out
	case *pyjson.Object:
		if v == nil {
			return nil
		}
		return plain(v.Values)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = plain(item)
		}
		return out
	}
	return v
}
