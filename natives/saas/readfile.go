package saas

import (
	"context"
	"fmt"

	"github.com/app-sre/prcheck/internal/pyjson"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/plan"
)

// readFile reads a saas file. One with a mistake is there with its name, and broken.
func (r *reader) readFile(ctx context.Context, query integration.QueryFunc, of *row) {
	a := decode[fileAnswer](of)
	if r.isWrong(*of) {
		f := &File{Path: of.path, Name: fileList.askName(ctx, query, of.path), Broken: r.broken[of.path],
			fips: r.settings.FIPS}
		r.model.Files = append(r.model.Files, f)
		r.noteUnread(ctx, query, of.path)
		return
	}
	f := &File{Path: a.Path, Name: a.Name, ManagedTypes: a.ManagedTypes, ManagedNames: a.ManagedNames,
		ImagePatterns: a.ImagePatterns,
		Parameters:    compact(a.Parameters), SecretParameters: a.SecretParameters.list(),
		AllowedSecretPaths:   a.AllowedSecretPaths,
		ValidateTargetsInApp: value(a.ValidateTargetsInApp), ValidatePlannedData: value(a.ValidatePlannedData),
		Takeover: value(a.Takeover), Deprecated: value(a.Deprecated), Compare: a.Compare == nil || *a.Compare,
		ClusterAdmin:         value(a.ClusterAdmin),
		UseChannelInImageTag: value(a.UseChannel), PublishJobLogs: value(a.PublishJobLogs), AsksForSlack: a.Slack != nil,
		Timeout: value(a.Timeout), fips: r.settings.FIPS}
	if a.Authentication != nil {
		f.Code, f.Image = a.Authentication.Code.ref(), a.Authentication.Image.ref()
	}
	r.model.Files = append(r.model.Files, f)
	if _, err := readParameters(a.Parameters); err != nil {
		r.breakFile(f, CodeParameters, "/parameters", err.Error())
	}
	if app := r.apps[a.App.Path]; app != nil {
		f.App = app.Name
	} else {
		r.breakFile(f, CodeApp, "/app", r.why(a.App.Path, "it is no app"))
	}
	if p := r.providers[a.Provider.Path]; p != nil {
		f.Provider = *p
	} else {
		r.breakFile(f, CodeApp, "/pipelinesProvider", r.why(a.Provider.Path, "it is no provider of pipelines"))
	}
	for i, t := range a.Templates {
		r.readTemplate(f, t, jsonpointer.Append("/resourceTemplates", fmt.Sprint(i)))
	}
	r.findAlike(f, &a)
}

// noteUnread notes which channels a saas file with a mistake may publish.
func (r *reader) noteUnread(ctx context.Context, query integration.QueryFunc, path string) {
	type targets struct {
		Targets []struct {
			Promotion *struct {
				Publish []string `json:"publish,omitempty"`
			} `json:"promotion"`
		} `json:"targets"`
	}
	answer, err := integration.Ask[struct {
		List []struct {
			Templates []targets `json:"resourceTemplates"`
		} `json:"list"`
	}](ctx, query, "query($path: String) { list: "+fileList.root+
		"(path: $path) { resourceTemplates { targets { promotion { publish } } } } }", map[string]any{"path": path})
	if err != nil || len(answer.List) != 1 {
		r.unreadChannel(anyChannel, path)
		return
	}
	for _, t := range answer.List[0].Templates {
		for _, target := range t.Targets {
			if target.Promotion == nil {
				continue
			}
			for _, channel := range target.Promotion.Publish {
				r.unreadChannel(channel, path)
			}
		}
	}
}

// unreadChannel notes that a datafile which cannot be used may publish a channel.
func (r *reader) unreadChannel(channel, path string) {
	if r.model.unread == nil {
		r.model.unread = map[string]string{}
	}
	r.model.unread[channel] = path
}

// compact returns parameters as qontract-reconcile remembers them: as Python writes them without
// blanks. Text that is no JSON stays as it is.
func compact(text *string) *string {
	if text == nil {
		return nil
	}
	v, err := pyjson.Read(*text)
	if err != nil {
		return text
	}
	out := pyjson.Compact(v)
	return &out
}

// why returns why a datafile cannot be used.
func (r *reader) why(path, otherwise string) string {
	if why := r.broken[path]; why != "" {
		return why
	}
	return otherwise
}

// breakFile holds a saas file and tells why.
func (r *reader) breakFile(f *File, code plan.FindingCode, pointer, message string) {
	if f.Broken == "" {
		f.Broken = message
	}
	r.tell(plan.Finding{Code: code, Severity: plan.SeverityError, Place: plan.Place{File: f.Path, Pointer: pointer},
		Message: message})
}

// breakTarget holds a target and tells why, at a pointer below the target.
func (m *Model) breakTarget(t *Target, code plan.FindingCode, pointer, message string) {
	if t.Broken == "" {
		t.Broken = message
	}
	m.tellTarget(t, code, plan.SeverityError, pointer, message)
}

// tellTarget adds a finding about a target, at a pointer below it, once: the targets of a selector
// have one place.
func (m *Model) tellTarget(t *Target, code plan.FindingCode, severity plan.Severity, pointer, message string) {
	f := plan.Finding{Code: code, Severity: severity,
		Place: plan.Place{File: t.Place.File, Pointer: t.Place.Pointer + pointer}, Message: message}
	for i := len(m.Findings) - 1; i >= 0 && i >= len(m.Findings)-20; i-- {
		if g := m.Findings[i]; g.Place == f.Place && g.Message == f.Message {
			return
		}
	}
	m.Findings = append(m.Findings, f)
}

// readTemplate reads a resource template.
func (r *reader) readTemplate(f *File, a *templateAnswer, pointer string) {
	t := &Template{File: f, Name: a.Name, URL: a.URL, Path: a.Path, Kind: Kind(value(a.Provider)),
		HashLength: value(a.HashLength),
		Parameters: compact(a.Parameters), SecretParameters: a.SecretParameters.list(), Pointer: pointer}
	switch t.Kind {
	case "":
		t.Kind = OpenShift
	case OpenShift, Directory, Helm:
	default:
		r.breakFile(f, CodeParameters, pointer+"/provider", fmt.Sprintf("%.40q is not known; say %s, %s or %s", t.Kind,
			OpenShift, Directory, Helm))
	}
	if _, err := readParameters(a.Parameters); err != nil {
		r.breakFile(f, CodeParameters, pointer+"/parameters", err.Error())
	}
	f.Templates = append(f.Templates, t)
	for i, target := range a.Targets {
		place := plan.Place{File: f.Path, Pointer: fmt.Sprintf("%s/targets/%d", pointer, i)}
		if target.Path != nil {
			place = plan.Place{File: *target.Path}
		}
		r.readTargets(t, target, place)
	}
}

// readTargets reads a target of the data, which is several if it selects namespaces.
func (r *reader) readTargets(of *Template, a *targetAnswer, place plan.Place) {
	switch {
	case a.Selector == nil && a.Namespace == nil:
		r.unplaced(of, a, place, CodeNamespace, "", "it has no namespace and no namespaceSelector")
	case a.Selector != nil && a.Namespace != nil:
		r.unplaced(of, a, place, CodeNamespace, "/namespaceSelector",
			"namespace and namespaceSelector exclude each other; remove one")
	case a.Selector != nil && value(a.Provider) != "dynamic":
		r.unplaced(of, a, place, CodeSelector, "/namespaceSelector", "a namespaceSelector needs provider: dynamic")
	case a.Selector != nil:
		namespaces, wrong := r.selectNamespaces(a.Selector)
		if wrong != nil {
			r.unplaced(of, a, place, CodeSelector, wrong.pointer, wrong.message)
			return
		}
		for _, n := range namespaces {
			t := r.readTarget(of, a, *n, place)
			t.Selected, t.Selector = true, a.selector()
		}
	case r.namespaces[a.Namespace.Path] == nil:
		r.unplaced(of, a, place, CodeNamespace, "/namespace", r.why(a.Namespace.Path, "it is no namespace"))
	default:
		r.readTarget(of, a, *r.namespaces[a.Namespace.Path], place)
	}
}

// unplaced tells of a target whose namespaces are not known. Its cells are not known either, so
// that its whole saas file is held.
func (r *reader) unplaced(of *Template, a *targetAnswer, place plan.Place, code plan.FindingCode,
	pointer, message string) {
	if of.File.Broken == "" {
		of.File.Broken = "a target cannot be placed: " + message
	}
	if a.Promotion != nil {
		for _, channel := range a.Promotion.Publish {
			r.unreadChannel(channel, place.File)
		}
	}
	r.tell(plan.Finding{Code: code, Severity: plan.SeverityError,
		Place: plan.Place{File: place.File, Pointer: place.Pointer + pointer}, Message: message})
}

// readTarget reads a target in one namespace.
func (r *reader) readTarget(of *Template, a *targetAnswer, n Namespace, place plan.Place) *Target {
	t := &Target{Template: of, Name: a.Name, Namespace: n, Ref: a.Ref, Promotion: a.Promotion.promotion(),
		Disable: value(a.Disable),
		Delete:  value(a.Delete), SecretParameters: a.SecretParameters.list(), Place: place}
	t.explicit.disable, t.explicit.delete = a.Disable != nil, a.Delete != nil
	if p := a.Promotion; p != nil {
		t.explicit.auto, t.explicit.redeploy, t.explicit.soak, t.explicit.schedule = p.Auto != nil, p.Redeploy != nil,
			p.SoakDays != nil, p.Schedule != nil
	}
	if u := a.Upstream; u != nil {
		t.Upstream = &Upstream{Instance: u.Instance.Name, ServerURL: u.Instance.ServerURL, Job: u.Name,
			Token: *u.Instance.Token.ref()}
	}
	if a.Images != nil {
		t.Images = []Image{}
	}
	for _, i := range a.Images {
		t.Images = append(t.Images, Image{Registry: i.Org.Instance.URL, Org: i.Org.Name, Name: i.Name})
	}
	of.Targets = append(of.Targets, t)
	if a.SLOs != nil {
		t.SLOs = []*SLODocument{}
	}
	for i, s := range a.SLOs {
		d := r.slos[s.Path]
		if d == nil {
			d = &SLODocument{Path: s.Path, Broken: r.why(s.Path, "it is no SLO document")}
		}
		if t.SLOs = append(t.SLOs, d); d.Broken != "" {
			r.model.breakTarget(t, CodeRef, fmt.Sprintf("/slos/%d", i), d.Broken)
		}
	}
	if pointer, err := r.resolve(t, a.Parameters); err != nil {
		r.model.breakTarget(t, CodeParameters, pointer, err.Error())
	}
	return t
}
