package saas

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/pyjson"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/plan"
)

// Validate returns all mistakes of the data about saas files, in the order of their places: those
// that hold something and those that do not.
func Validate(m *Model) []plan.Finding {
	v := &Model{Files: m.Files, Apps: m.Apps, orgs: m.orgs, registries: m.registries, quayOrgs: m.quayOrgs, jobs: m.jobs,
		known:    m.known,
		Findings: slices.Clone(m.Findings)}
	v.leaving = map[string][]*Target{}
	v.eachTarget(func(t *Target) {
		if t.Delete && t.Promotion != nil {
			for _, channel := range t.Promotion.Publish {
				v.leaving[channel] = append(v.leaving[channel], t)
			}
		}
	})
	for _, f := range m.Files {
		v.checkFile(f)
		for _, t := range f.Templates {
			for _, target := range t.Targets {
				v.checkTarget(target)
			}
		}
	}
	v.checkDisabled()
	out := v.Findings
	slices.SortStableFunc(out, func(a, b plan.Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), strings.Compare(a.Pointer, b.Pointer),
			strings.Compare(string(a.Code), string(b.Code)), strings.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(out, func(a, b plan.Finding) bool {
		return a.Place == b.Place && a.Code == b.Code && a.Message == b.Message
	})
}

// checkDisabled tells of disabled targets whose cell has the name of another one, which is held once they are enabled.
func (m *Model) checkDisabled() {
	cells := map[string]map[string]bool{} // by their names for objects
	m.eachTarget(func(t *Target) {
		name := combo(t.Template.File.Name, t.Env())
		if cells[name] == nil {
			cells[name] = map[string]bool{}
		}
		cells[name][t.Template.File.Name+"/"+t.Env()] = true
	})
	m.eachTarget(func(t *Target) {
		name := combo(t.Template.File.Name, t.Env())
		if keys := sortedKeys(cells[name]); t.Disable && len(keys) > 1 {
			m.tellTarget(t, CodeName, plan.SeverityError, "",
				fmt.Sprintf("the cells %s have one name for objects, %s; rename one", strings.Join(keys, " and "), name))
		}
	})
}

// tellFile adds a finding about a saas file.
func (m *Model) tellFile(f *File, code plan.FindingCode, severity plan.Severity, pointer, message string) {
	m.Findings = append(m.Findings, plan.Finding{Code: code, Severity: severity,
		Place: plan.Place{File: f.Path, Pointer: pointer}, Message: message})
}

// checkFile checks what a saas file says for all of its targets.
func (m *Model) checkFile(f *File) {
	m.checkApp(f)
	if name := f.Pipeline(); f.Provider.Kind == "tekton" {
		if wrong := wrongName(name); len(name) > maxPipeline {
			m.tellFile(f, CodeName, plan.SeverityError, "/name", fmt.Sprintf("Pipeline name %s is longer than %d characters",
				name, maxPipeline))
		} else if wrong != "" {
			m.tellFile(f, CodeName, plan.SeverityError, "/name", fmt.Sprintf("no cluster accepts the pipeline name %.80s: %s",
				name, wrong))
		}
	}
	if f.Timeout != "" {
		if t, err := ParseTimeout(f.Timeout); err != nil {
			m.tellFile(f, CodeTimeout, plan.SeverityError, "/timeout", err.Error())
		} else if t < minTimeout {
			m.tellFile(f, CodeTimeout, plan.SeverityError, "/timeout", fmt.Sprintf("the timeout %s is below one hour",
				f.Timeout))
		}
	}
	for i, pattern := range f.ImagePatterns {
		if host, name, ok := strings.Cut(pattern, "/"); ok && m.registries[host] && !m.quayOrgs[host+"/"+untilSlash(name)] {
			m.tellFile(f, CodeImages, plan.SeverityError, fmt.Sprintf("/imagePatterns/%d", i),
				fmt.Sprintf("no datafile names the organization %.100q of the registry %.100s", untilSlash(name), host))
		}
		if !strings.HasSuffix(pattern, "/") && !strings.HasSuffix(pattern, ":") && !strings.HasSuffix(pattern, "@") {
			m.tellFile(f, CodeImages, plan.SeverityWarning, fmt.Sprintf("/imagePatterns/%d", i),
				fmt.Sprintf("the pattern %.100s allows all images that begin with it, such as %.100s-other; end it with / or :",
					pattern, pattern))
		}
	}
	if f.AsksForSlack {
		m.tellFile(f, CodeUnused, plan.SeverityNote, "/slack", "messages to Slack are not sent")
	}
	m.checkSecrets(f, f.SecretParameters, plan.Place{File: f.Path, Pointer: "/secretParameters"})
	for _, t := range f.Templates {
		m.checkSecrets(f, t.SecretParameters, plan.Place{File: f.Path, Pointer: t.Pointer + "/secretParameters"})
		if !m.knowsRepository(t.URL) {
			m.tellFile(f, CodeApp, plan.SeverityError, t.Pointer+"/url",
				fmt.Sprintf("no app has the repository %.200s among its codeComponents", t.URL))
		}
		if !m.knowsOrg(t.URL) {
			m.tellFile(f, CodeApp, plan.SeverityWarning, t.Pointer+"/url",
				fmt.Sprintf("no datafile names the GitHub organization of %.200s", t.URL))
		}
	}
}

// checkApp checks that people have a share of the app of a saas file: by a role, or, where the data have no such
// roles, as its owners.
func (m *Model) checkApp(f *File) {
	app := m.Apps[f.App]
	switch {
	case app == nil:
	case m.known["App_v1"]["selfServiceRoles"] && app.Roles == 0:
		m.tellFile(f, CodeApp, plan.SeverityError, "/app",
			fmt.Sprintf("the app %.100s has no self-service roles; add %.200s to the self_service of a role", f.App, app.Path))
	case !m.known["App_v1"]["selfServiceRoles"] && app.Owners == 0:
		m.tellFile(f, CodeApp, plan.SeverityError, "/app", fmt.Sprintf("the app %s has no serviceOwners", f.App))
	}
}

// untilSlash returns what stands before the first slash.
func untilSlash(text string) string {
	before, _, _ := strings.Cut(text, "/")
	return before
}

// knowsOrg reports whether the data name the organization of a repository. Repositories elsewhere
// than at GitHub have none.
func (m *Model) knowsOrg(address string) bool {
	u, err := url.Parse(address)
	if m.orgs == nil || err != nil || u.Host != "github.com" {
		return true
	}
	org, _, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	return m.orgs["https://github.com/"+strings.ToLower(org)]
}

// knowsRepository reports whether any app has a repository.
func (m *Model) knowsRepository(url string) bool {
	for _, app := range m.Apps {
		if _, ok := app.Components[url]; ok {
			return true
		}
	}
	return false
}

// checkSecrets checks that a saas file allows the paths of parameters. The place is that of the list.
func (m *Model) checkSecrets(f *File, list []SecretParameter, place plan.Place) {
	for i, p := range list {
		if !allows(f.AllowedSecretPaths, p.Secret.Path) {
			m.Findings = append(m.Findings, plan.Finding{Code: CodeSecret, Severity: plan.SeverityError,
				Place:   plan.Place{File: place.File, Pointer: fmt.Sprintf("%s/%d/secret/path", place.Pointer, i)},
				Message: fmt.Sprintf("allowedSecretParameterPaths of %s does not allow the path %.200s", f.Path, p.Secret.Path)})
		}
	}
}

// checkTarget checks a target.
func (m *Model) checkTarget(t *Target) {
	tell := func(code plan.FindingCode, pointer, message string) {
		m.tellTarget(t, code, plan.SeverityError, pointer, message)
	}
	isCommit := IsCommit(t.Ref)
	switch {
	case len(t.Images) > 0 && t.Upstream != nil:
		tell(CodeImages, "/images", "images and upstream exclude each other; remove one")
	case t.Upstream != nil && isCommit:
		tell(CodeRef, "/ref", fmt.Sprintf("a target with upstream needs a branch as ref, not the commit %s", t.Ref))
	case len(t.Images) > 0 && isCommit:
		tell(CodeRef, "/ref", fmt.Sprintf("a target with images needs a branch as ref, not the commit %s", t.Ref))
	}
	if f := t.Template.File; f.ValidateTargetsInApp && t.Namespace.App != f.App && !m.isParent(t.Namespace.App, f.App) {
		tell(CodeApp, "/namespace",
			fmt.Sprintf("the namespace belongs to the app %s, and targets must be in the app %s or its parent", t.Namespace.App,
				f.App))
	}
	m.checkSecrets(t.Template.File, t.SecretParameters,
		plan.Place{File: t.Place.File, Pointer: t.Place.Pointer + "/secretParameters"})
	for _, p := range t.Namespace.Environment.SecretParameters {
		if !allows(t.Template.File.AllowedSecretPaths, p.Secret.Path) {
			tell(CodeSecret, "/namespace",
				fmt.Sprintf("allowedSecretParameterPaths does not allow the path %.200s of the environment %s", p.Secret.Path,
					t.Env()))
		}
	}
	m.checkParameters(t)
	m.checkUpstream(t)
	if t.Promotion != nil {
		m.checkPromotion(t)
	}
}

// isParent reports whether an app is the parent of another one.
func (m *Model) isParent(parent, of string) bool {
	app := m.Apps[of]
	return app != nil && app.Parent == parent && parent != ""
}

// checkPromotion checks the promotion of a target.
func (m *Model) checkPromotion(t *Target) {
	p := t.Promotion
	tell := func(code plan.FindingCode, pointer, message string) {
		m.tellTarget(t, code, plan.SeverityError, "/promotion"+pointer, message)
	}
	if p.Auto && !IsCommit(t.Ref) {
		m.tellTarget(t, CodeRef, plan.SeverityError, "/ref",
			fmt.Sprintf("auto promotion needs the full sha of a commit as ref, not %.80s", t.Ref))
	}
	for i, d := range p.Data {
		if p.Auto && len(p.Subscribe) > 0 && !slices.Contains(p.Subscribe, d.Channel) {
			tell(CodeChannel, fmt.Sprintf("/promotion_data/%d", i),
				fmt.Sprintf("the target does not subscribe to the channel %.100s; remove its promotion_data", d.Channel))
		}
	}
	for i, channel := range p.Publish {
		if slices.Contains(p.Publish[:i], channel) {
			tell(CodeChannel, fmt.Sprintf("/publish/%d", i),
				fmt.Sprintf("the target publishes the channel %.100s twice; remove one", channel))
		}
	}
	for i, channel := range p.Subscribe {
		pointer := fmt.Sprintf("/subscribe/%d", i)
		publishers := m.Publishers(channel)
		if len(publishers) == 0 {
			tell(CodeChannel, pointer, fmt.Sprintf("no target publishes the channel %.100s", channel))
		}
		for _, from := range append(slices.Clip(publishers), m.leaving[channel]...) {
			if from.Template.URL != t.Template.URL {
				tell(CodeChannel, pointer,
					fmt.Sprintf("the channel %.100s is published for another repository: %.200s by %s, not %.200s",
						channel, from.Template.URL, from.Label(), t.Template.URL))
			}
		}
	}
	if p.SoakDays < 0 {
		tell(CodeSchedule, "/soakDays", fmt.Sprintf("soakDays is %d, and must not be negative", p.SoakDays))
	}
}

// checkParameters checks the parameters of a target.
func (m *Model) checkParameters(t *Target) {
	parameters, ok := jsonOrNil(t.Parameters).(*pyjson.Object)
	if !ok {
		return
	}
	tag := asText(parameters.Values["IMAGE_TAG"])
	if tag != "" && strings.HasPrefix(t.Ref, tag) {
		m.tellTarget(t, CodeParameters, plan.SeverityError, "/parameters/IMAGE_TAG",
			fmt.Sprintf("IMAGE_TAG %.80s is the beginning of the ref; remove it, it is made of the commit", tag))
	}
	environment, _ := jsonOrNil(t.Namespace.Environment.Parameters).(*pyjson.Object)
	for _, key := range parameters.Keys {
		text, isText := parameters.Values[key].(string)
		if !isText {
			continue
		}
		if strings.Contains(text, "${"+key+"}") {
			severity := plan.SeverityError
			if environment == nil || len(environment.Keys) == 0 { // then the peer does not look
				severity = plan.SeverityWarning
			}
			m.tellTarget(t, CodeParameters, severity, "/parameters",
				fmt.Sprintf("the parameter %.100s refers to itself, which is not filled in", key))
		}
		if name := reused(text, environment); name != "" {
			m.tellTarget(t, CodeParameters, plan.SeverityError, "/parameters",
				fmt.Sprintf("the parameter %.100s repeats a value of the environment %s; use ${%.100s}", key, t.Env(), name))
		}
	}
}

// asText returns a text or a number as a text, "" for anything else.
func asText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case fmt.Stringer:
		return v.String()
	}
	return ""
}

// reused returns the name of the parameter of an environment whose value a text repeats. Values
// without a dot are too short to tell.
func reused(text string, environment *pyjson.Object) string {
	if environment == nil {
		return ""
	}
	for _, key := range environment.Keys {
		value, isText := environment.Values[key].(string)
		if isText && strings.Contains(value, ".") && strings.Contains(text, value) {
			return key
		}
	}
	return ""
}

// maxPipeline is how long the name of a pipeline may be.
const maxPipeline = 56

// Pipeline returns the name of the pipeline that deploys a saas file.
func (f *File) Pipeline() string { return "o-" + f.Provider.Template + "-" + f.Name }

// labelPattern matches names of objects that are labels, see RFC 1123.
var labelPattern = lazyregexp.New(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)

// wrongName returns why a name cannot be that of an object, "" if it can.
func wrongName(name string) string {
	switch {
	case labelPattern.MatchString(name):
		return ""
	case strings.ToLower(name) != name:
		return "it has upper-case letters"
	}
	return "it may have lower-case letters, digits, dots and hyphens alone"
}

// minTimeout is the shortest time that a pipeline accepts.
const minTimeout = time.Hour

// timeoutPattern matches the form of a time: days, hours, minutes and seconds, each of which may
// be missing.
var timeoutPattern = lazyregexp.New(`^(?:(\d{1,4})d)?(?:(\d{1,6})h)?(?:(\d{1,8})m)?(?:(\d{1,9})s)?$`)

// ParseTimeout reads a time such as 1h30m or 2d.
func ParseTimeout(text string) (time.Duration, error) {
	parts := timeoutPattern.FindStringSubmatch(text)
	if parts == nil || text == "" {
		return 0, fmt.Errorf("%.40q is no time, such as 1h30m", text)
	}
	var out time.Duration
	for i, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second} {
		if parts[i+1] == "" {
			continue
		}
		n, err := strconv.Atoi(parts[i+1])
		if err != nil {
			return 0, err
		}
		out += time.Duration(n) * unit
	}
	return out, nil
}
