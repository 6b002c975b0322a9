package saas

import (
	"context"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/integration"
)

// A list is what is asked of the datafiles of one root field.
type list struct{ root, of string }

// The lists, with the types of their entries.
var (
	fileList        = list{"saas_files_v2", "SaasFile_v2"}
	appList         = list{"apps_v1", "App_v1"}
	environmentList = list{"environments_v1", "Environment_v1"}
	clusterList     = list{"clusters_v1", "Cluster_v1"}
	namespaceList   = list{"namespaces_v1", "Namespace_v1"}
	providerList    = list{"pipelines_providers_v1", "PipelinesProvider_v1"}
	sloList         = list{"slo_document_v1", "SLODocument_v1"}
	settingsList    = list{"app_interface_settings_v1", "AppInterfaceSettings_v1"}
	orgList         = list{"githuborg_v1", "GithubOrg_v1"}
	registryList    = list{"quay_instances_v1", "QuayInstance_v1"}
	quayOrgList     = list{"quay_orgs_v1", "QuayOrg_v1"}
	jobList         = list{"jenkins_configs_v1", "JenkinsConfig_v1"}
)

// selections are what is asked of types, or, behind a colon, of a type at one place. A field that
// the type does not have is not asked for. % stands for the selection of the type behind it.
var selections = map[string]string{
	"SaasFile_v2": `path; name; app { path }; pipelinesProvider { path }; managedResourceTypes; managedResourceNames { resource resourceNames };
		imagePatterns; authentication %SaasFileAuthentication_v1; parameters; secretParameters %SaasSecretParameters_v1;
		allowedSecretParameterPaths; validateTargetsInApp; validatePlannedData; takeover; deprecated; compare; timeout; clusterAdmin;
		publishJobLogs; use_channel_in_image_tag; slack { __typename }; resourceTemplates %SaasResourceTemplate_v2`,
	"SaasFileAuthentication_v1": `code %VaultSecret_v1; image %VaultSecret_v1`,
	"SaasSecretParameters_v1":   `name; secret %VaultSecret_v1`,
	"VaultSecret_v1":            `path; field; format; version`,
	"SaasResourceTemplate_v2": `name; url; path; provider; hash_length; parameters; secretParameters %SaasSecretParameters_v1;
		targets %SaasResourceTemplateTarget_v2`,
	"SaasResourceTemplateTarget_v2": `path; name; provider; namespace { path }; ref; parameters; secretParameters %SaasSecretParameters_v1;
		namespaceSelector { jsonPathSelectors { include exclude } }; promotion %SaasResourceTemplateTargetPromotion_v1;
		upstream %SaasResourceTemplateTargetUpstream_v1; images { name org { name instance { url } } }; slos { path }; disable; delete`,
	"SaasResourceTemplateTargetPromotion_v1": `auto; publish; subscribe; redeployOnPublisherConfigChange; soakDays; schedule;
		promotion_data { channel data { type ... on ParentSaasPromotion_v1 { parent_saas target_config_hash } } }`,
	"SaasResourceTemplateTargetUpstream_v1": `name; instance %JenkinsInstance_v1`,
	"JenkinsInstance_v1":                    `name; serverUrl; token %VaultSecret_v1`,
	"App_v1":                                `path; name; labels; parentApp { name }; serviceOwners { name }; selfServiceRoles { path }; codeComponents %AppCodeComponents_v1`,
	"AppCodeComponents_v1":                  `url; blockedVersions; hotfixVersions`,
	"Environment_v1":                        `path; name; labels; parameters; secretParameters %SaasSecretParameters_v1`,
	"Cluster_v1": `path; name; serverUrl; consoleUrl; prometheusUrl; insecureSkipTLSVerify; internal; automationToken %VaultSecret_v1;
		clusterAdminAutomationToken %VaultSecret_v1; jumpHost { __typename }; disable { integrations }`,
	"Namespace_v1": `path; name; labels; delete; app { path }; environment { path }; cluster { path }; skupperSite { delete }`,
	"PipelinesProvider_v1": `path; name; provider; ... on PipelinesProviderTekton_v1 {
		namespace { path } defaults { pipelineTemplates { openshiftSaasDeploy { name } } } pipelineTemplates { openshiftSaasDeploy { name } } }`,
	"SLODocument_v1":                 `path; name; namespaces %SLONamespaces_v1; slos { name expr SLIType SLOParameters { window } SLOTarget SLOTargetUnit }`,
	"SLONamespaces_v1":               `prometheusAccess %SLOExternalPrometheusAccess_v1; namespace %Namespace_v1:slo; SLONamespace { name }`,
	"SLOExternalPrometheusAccess_v1": `url; username %VaultSecret_v1; password %VaultSecret_v1`,
	"Namespace_v1:slo":               `name; app { name }; cluster %Cluster_v1:slo`,
	"Cluster_v1:slo":                 `name; automationToken %VaultSecret_v1; prometheusUrl; spec { private }`,
	"GithubOrg_v1":                   `path; name; url`,
	"QuayInstance_v1":                `path; url`,
	"QuayOrg_v1":                     `path; name; instance { url }`,
	"JenkinsConfig_v1":               `path; name; type; app { name }; instance { name }; config; config_path { content }`,
	"Query":                          "", // which lists there are
	"AppInterfaceSettings_v1":        `path; hashLength; imagePatternsBlockRules { environmentLabelSelector imagePatterns }`,
}

// types are the fields of the types of the data, by the name of the type.
type types map[string]map[string]bool

// askTypes asks which fields the types have of which anything is selected. Schemas grow: a query
// that asks for a field that does not exist fails as a whole.
func askTypes(ctx context.Context, query integration.QueryFunc) (types, error) {
	text := "{"
	for _, name := range sortedKeys(selections) {
		if !strings.Contains(name, ":") {
			text += fmt.Sprintf(" %s: __type(name: %q) { fields { name } }", name, name)
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
func (l list) selection(known types) string { return known.selection(l.of) }

// selection returns what is asked of a type.
func (known types) selection(of string) string {
	typeName, _, _ := strings.Cut(of, ":")
	var out []string
	for field := range strings.SplitSeq(selections[of], ";") {
		field = strings.TrimSpace(field)
		name, rest, _ := strings.Cut(field, " ")
		if name != "..." && !known[typeName][name] {
			continue
		}
		if inner, isType := strings.CutPrefix(rest, "%"); isType {
			field = name + " { " + known.selection(inner) + " }"
		}
		out = append(out, field)
	}
	return strings.Join(out, " ")
}
