package saastest

import "strings"

// types are the types of the data: a line for the name of a type, with the schema of its
// datafiles if it has some, and lines with its fields. A field is NAME, NAME:TYPE, with ! if it is
// required and * if it is a list. The default type is string; resource is the path of a resource.
const types = `
AppInterfaceSettings_v1 /app-interface/app-interface-settings-1.yml
  schema! path! name! hashLength:int! imagePatternsBlockRules:ImagePatternsBlock_v1*
ImagePatternsBlock_v1
  environmentLabelSelector:json! imagePatterns!*
VaultSecret_v1
  path! field! format version:int
Owner_v1
  name! email!
App_v1 /app-sre/app-1.yml
  schema! path! name! labels:json parentApp:App_v1 serviceOwners:Owner_v1* codeComponents:AppCodeComponents_v1*
  selfServiceRoles:Role_v1*
Role_v1 /access/role-1.yml
  schema! path! name! self_service:SelfServiceConfig_v1*
SelfServiceConfig_v1
  datafiles:App_v1*
AppCodeComponents_v1
  name! url! resource! blockedVersions* hotfixVersions*
Environment_v1 /app-sre/environment-1.yml
  schema! path! name! labels:json! parameters:json secretParameters:SaasSecretParameters_v1*
Cluster_v1 /openshift/cluster-1.yml
  schema! path! name! serverUrl! consoleUrl! prometheusUrl! internal:boolean insecureSkipTLSVerify:boolean
  automationToken:VaultSecret_v1 clusterAdminAutomationToken:VaultSecret_v1
  jumpHost:ClusterJumpHost_v1 disable:DisableClusterAutomations_v1 spec:ClusterSpec_v1
ClusterJumpHost_v1
  hostname!
ClusterSpec_v1
  private:boolean!
DisableClusterAutomations_v1
  integrations*
Namespace_v1 /openshift/namespace-1.yml
  schema! path! name! labels:json delete:boolean cluster:Cluster_v1! app:App_v1! environment:Environment_v1!
  skupperSite:NamespaceSkupperSiteConfig_v1
NamespaceSkupperSiteConfig_v1
  delete:boolean
JenkinsInstance_v1 /dependencies/jenkins-instance-1.yml
  schema! path! name! serverUrl! token:VaultSecret_v1!
Resource_v1
  path! content! sha256sum! schema
JenkinsConfig_v1 /dependencies/jenkins-config-1.yml
  schema! path! name! app:App_v1! instance:JenkinsInstance_v1! type! config:json config_path:resource
QuayInstance_v1 /dependencies/quay-instance-1.yml
  schema! path! name! url!
QuayOrg_v1 /dependencies/quay-org-1.yml
  schema! path! name! instance:QuayInstance_v1!
GithubOrg_v1 /dependencies/github-org-1.yml
  schema! path! name! url!
SLODocument_v1 /app-sre/slo-document-1.yml
  schema! path! name! app:App_v1! namespaces:SLONamespaces_v1!* slos:SLODocumentSLO_v1*
SLONamespaces_v1
  namespace:Namespace_v1! SLONamespace:Namespace_v1 prometheusAccess:SLOExternalPrometheusAccess_v1
SLOExternalPrometheusAccess_v1
  url! username:VaultSecret_v1 password:VaultSecret_v1
SLODocumentSLO_v1
  name! SLIType! SLOTarget:float! SLOTargetUnit! SLOParameters:SLODocumentSLOSLOParameters_v1! expr!
SLODocumentSLOSLOParameters_v1
  window!
SlackWorkspace_v1 /dependencies/slack-workspace-1.yml
  schema! path! name!
SlackOutput_v1
  workspace:SlackWorkspace_v1! channel
PipelinesProviderTektonProviderDefaults_v1 /app-sre/tekton-provider-defaults-1.yml
  schema! path! name! pipelineTemplates:PipelinesProviderPipelineTemplates_v1!
PipelinesProviderPipelineTemplates_v1
  openshiftSaasDeploy:PipelinesProviderTektonObjectTemplate_v1!
PipelinesProviderTektonObjectTemplate_v1
  name! type! path! variables:json
SaasFileAuthentication_v1 /app-sre/saas-file-authentication-1.yml
  schema! path! code:VaultSecret_v1 image:VaultSecret_v1
SaasSecretParameters_v1
  name! secret:VaultSecret_v1!
ManagedResourceNames_v1
  resource! resourceNames!*
SaasFile_v2 /app-sre/saas-file-2.yml
  schema! path! labels:json name! displayName! description! app:App_v1! pipelinesProvider:PipelinesProvider_v1!
  slack:SlackOutput_v1 managedResourceTypes!* managedResourceNames:ManagedResourceNames_v1*
  authentication:SaasFileAuthentication_v1 parameters:json allowedSecretParameterPaths*
  secretParameters:SaasSecretParameters_v1* validateTargetsInApp:boolean validatePlannedData:boolean
  resourceTemplates:SaasResourceTemplate_v2!* imagePatterns!* takeover:boolean deprecated:boolean compare:boolean
  timeout publishJobLogs:boolean clusterAdmin:boolean use_channel_in_image_tag:boolean
SaasResourceTemplate_v2
  name! url! path! provider hash_length:int parameters:json secretParameters:SaasSecretParameters_v1*
  targets:SaasResourceTemplateTarget_v2!*
SaasResourceTemplateTarget_v2
  path name provider namespace:Namespace_v1 namespaceSelector:SaasResourceTemplateTargetNamespaceSelector_v1 ref!
  promotion:SaasResourceTemplateTargetPromotion_v1 parameters:json secretParameters:SaasSecretParameters_v1*
  upstream:SaasResourceTemplateTargetUpstream_v1 images:SaasResourceTemplateTargetImage_v1* slos:SLODocument_v1*
  disable:boolean delete:boolean
SaasResourceTemplateTargetReference_v2 /app-sre/saas-file-target-1.yml
  schema! path!
SaasResourceTemplateTargetNamespaceSelector_v1
  jsonPathSelectors:JsonPathSelectors_v1!
JsonPathSelectors_v1
  include!* exclude*
SaasResourceTemplateTargetUpstream_v1
  instance:JenkinsInstance_v1! name!
SaasResourceTemplateTargetImage_v1
  org:QuayOrg_v1! name!
SaasResourceTemplateTargetPromotion_v1
  auto:boolean redeployOnPublisherConfigChange:boolean publish* subscribe* soakDays:int schedule promotion_data:PromotionData_v1*
PromotionData_v1
  channel data:PromotionChannelData_v1*
`

// interfaces are the types that a field tells apart: name, field, its value and the type for it,
// and the fields of both.
var interfaces = [][5]string{
	{"PipelinesProvider_v1", "provider", "tekton", "PipelinesProviderTekton_v1", "schema! path! name! provider!"},
	{"PromotionChannelData_v1", "type", "parent_saas_config", "ParentSaasPromotion_v1", "type!"},
}

// more are the fields of a type of an interface that the interface does not have.
var more = map[string]string{
	"PipelinesProviderTekton_v1": " namespace:Namespace_v1! defaults:PipelinesProviderTektonProviderDefaults_v1! " +
		"pipelineTemplates:PipelinesProviderPipelineTemplates_v1",
	"ParentSaasPromotion_v1": " parent_saas target_config_hash",
}

// roots are the lists that a query can begin with.
var roots = map[string]string{
	"app_interface_settings_v1": "AppInterfaceSettings_v1", "apps_v1": "App_v1", "environments_v1": "Environment_v1",
	"clusters_v1": "Cluster_v1", "namespaces_v1": "Namespace_v1", "saas_files_v2": "SaasFile_v2",
	"slo_document_v1": "SLODocument_v1", "githuborg_v1": "GithubOrg_v1", "jenkins_configs_v1": "JenkinsConfig_v1",
	"quay_instances_v1": "QuayInstance_v1", "quay_orgs_v1": "QuayOrg_v1", "pipelines_providers_v1": "PipelinesProvider_v1",
}

// isInterface reports whether a type is an interface.
func isInterface(name string) bool {
	for _, i := range interfaces {
		if i[0] == name {
			return true
		}
	}
	return false
}

// graphql returns the types as a bundle has them. Fields that drop names, such as
// SaasFile_v2.compare, do not exist.
func graphql(drop []string) object {
	var confs []any
	datafiles := map[string]string{"PipelinesProvider_v1": "/app-sre/pipelines-provider-1.yml"}
	var name, fields string
	flush := func() {
		if name != "" {
			confs = append(confs, conf(name, datafiles[name], fields, drop))
		}
	}
	for line := range strings.Lines(types) {
		if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(line, " ") {
			flush()
			name, fields = words[0], ""
			if len(words) > 1 {
				datafiles[name] = words[1]
			}
			continue
		}
		fields += line
	}
	flush()
	for _, i := range interfaces {
		of := conf(i[0], datafiles[i[0]], i[4], drop)
		of["isInterface"] = true
		of["interfaceResolve"] = object{"strategy": "fieldMap", "field": i[1], "fieldMap": object{i[2]: i[3]}}
		is := conf(i[3], "", i[4]+more[i[3]], drop)
		is["interface"] = i[0]
		confs = append(confs, of, is)
	}
	var query []any
	for root, of := range roots {
		if contains(drop, "Query."+root) {
			continue
		}
		query = append(query, object{"name": root, "type": of, "isList": true, "isInterface": isInterface(of),
			"datafileSchema": datafiles[of]})
	}
	confs = append(confs, object{"name": "Query", "fields": query})
	return object{"$schema": "/app-interface/graphql-schemas-1.yml", "confs": confs}
}

// datafileOfRoles is the schema of roles.
const datafileOfRoles = "/access/role-1.yml"

// conf returns a type of the data.
func conf(name, datafile, fields string, drop []string) object {
	out := object{"name": name}
	if datafile != "" {
		out["datafile"] = datafile
	}
	var list []any
	for word := range strings.FieldsSeq(fields) {
		field, of, _ := strings.Cut(strings.TrimRight(word, "!*"), ":")
		if contains(drop, name+"."+field) {
			continue
		}
		isResource := of == "resource"
		if of == "" || isResource {
			of = "string"
		}
		if field == "selfServiceRoles" { // the roles that name the app
			list = append(list, object{"name": field, "type": of, "isList": true, "synthetic": object{"schema": datafileOfRoles,
				"subAttr": "self_service.datafiles"}})
			continue
		}
		list = append(list, object{"name": field, "type": of, "isRequired": strings.Contains(word, "!"),
			"isList": strings.HasSuffix(word, "*"), "isInterface": isInterface(of), "isResource": isResource,
			"resolveResource": isResource})
	}
	out["fields"] = list
	return out
}

// contains reports whether a list has a text.
func contains(list []string, text string) bool {
	for _, t := range list {
		if t == text {
			return true
		}
	}
	return false
}
