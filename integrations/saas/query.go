package saas

import (
	"context"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/integration"
)

// secretFields is what is asked of a reference to a secret.
const secretFields = " { path field format version }"

// secretsFields is what is asked of parameters that are secrets.
const secretsFields = " { name secret" + secretFields + " }"

// A list is what is asked of the datafiles of one root field.
type list struct {
	root  string
	parts []part
}

// A part is a selection of a type; fields that the type does not have are not asked for. The
// selection of a field that is marked by % and the name of a type is that of another part.
type part struct{ of, fields string }

// The lists. The first part is that of the root field.
var (
	fileList = list{"saas_files_v2", []part{
		{"SaasFile_v2", `path; name; app { path }; pipelinesProvider { path }; managedResourceTypes; managedResourceNames { resource resourceNames };
			imagePatterns; authentication { code` + secretFields + ` image` + secretFields + ` }; parameters; secretParameters` + secretsFields + `;
			allowedSecretParameterPaths; validateTargetsInApp; validatePlannedData; takeover; deprecated; compare; timeout; clusterAdmin;
			publishJobLogs; use_channel_in_image_tag; slack { __typename }; resourceTemplates %SaasResourceTemplate_v2`},
		{"SaasResourceTemplate_v2", `name; url; path; provider; hash_length; parameters; secretParameters` + secretsFields + `;
			targets %SaasResourceTemplateTarget_v2`},
		{"SaasResourceTemplateTarget_v2", `path; name; provider; namespace { path }; ref; parameters; secretParameters` + secretsFields + `;
			namespaceSelector { jsonPathSelectors { include exclude } }; promotion %SaasResourceTemplateTargetPromotion_v1;
			upstream { name instance { name serverUrl token` + secretFields + ` } }; images { name org { name instance { url } } };
			slos { path }; disable; delete`},
		{"SaasResourceTemplateTargetPromotion_v1", `auto; publish; subscribe; redeployOnPublisherConfigChange; soakDays; schedule;
			promotion_data { channel data { type ... on ParentSaasPromotion_v1 { parent_saas target_config_hash } } }`},
	}}
	appList = list{"apps_v1", []part{
		{"App_v1", `path; name; labels; parentApp { name }; serviceOwners { name }; codeComponents %AppCodeComponents_v1`},
		{"AppCodeComponents_v1", `url; blockedVersions; hotfixVersions`},
	}}
	environmentList = list{"environments_v1", []part{{"Environment_v1", `path; name; labels; parameters; secretParameters` + secretsFields}}}
	clusterList     = list{"clusters_v1", []part{{"Cluster_v1", `path; name; serverUrl; consoleUrl; prometheusUrl; insecureSkipTLSVerify; internal;
		automationToken` + secretFields + `; clusterAdminAutomationToken` + secretFields + `; jumpHost { __typename }; disable { integrations }`}}}
	namespaceList = list{"namespaces_v1", []part{
		{"Namespace_v1", `path; name; labels; delete; app { path }; environment { path }; cluster { path }; skupperSite { delete }`},
	}}
	providerList = list{"pipelines_providers_v1", []part{{"PipelinesProvider_v1", `path; name; provider; ... on PipelinesProviderTekton_v1 {
		namespace { path } defaults { pipelineTemplates { openshiftSaasDeploy { name } } } pipelineTemplates { openshiftSaasDeploy { name } } }`}}}
	sloList = list{"slo_document_v1", []part{{"SLODocument_v1", `path; name; namespaces {
		prometheusAccess { url username` + secretFields + ` password` + secretFields + ` }
		namespace { name app { name } cluster { name automationToken` + secretFields + ` prometheusUrl spec { private } } }
		SLONamespace { name } };
		slos { name expr SLIType SLOParameters { window } SLOTarget SLOTargetUnit }`}}}
	settingsList = list{"app_interface_settings_v1", []part{
		{"AppInterfaceSettings_v1", `path; hashLength; imagePatternsBlockRules { environmentLabelSelector imagePatterns }`},
	}}
)

// types are the fields of the types of the data, by the name of the type.
type types map[string]map[string]bool

// askTypes asks which fields the types have that the lists name. Schemas grow: a query that asks
// for a field that does not exist fails as a whole.
func askTypes(ctx context.Context, query integration.QueryFunc, lists ...list) (types, error) {
	text := "{"
	for _, l := range lists {
		for _, p := range l.parts {
			text += fmt.Sprintf(" %s: __type(name: %q) { fields { name } }", p.of, p.of)
		}
	}
	answer, err := integration.Ask[map[string]*struct {
		Fields []struct {
			Name string `json:"name"`
		} `json:"fields"`
	}](ctx, query, text+" }", nil)
	if err != nil {
		return nil, fmt.Errorf("asking for the fields of the types: %w", err)
	}
	out := types{}
	for name, of := range answer {
		out[name] = map[string]bool{}
		if of == nil {
			continue
		}
		for _, f := range of.Fields {
			out[name][f.Name] = true
		}
	}
	return out, nil
}

// selection returns what is asked of the entries of a list.
func (l list) selection(known types) string {
	return l.fields(l.parts[0], known)
}

// fields returns the selection of a part.
func (l list) fields(p part, known types) string {
	var out []string
	for field := range strings.SplitSeq(p.fields, ";") {
		field = strings.TrimSpace(field)
		name, rest, _ := strings.Cut(field, " ")
		if name != "..." && !known[p.of][name] {
			continue
		}
		if of, isPart := strings.CutPrefix(rest, "%"); isPart {
			for _, other := range l.parts {
				if other.of == of {
					field = name + " { " + l.fields(other, known) + " }"
				}
			}
		}
		out = append(out, field)
	}
	return strings.Join(out, " ")
}
