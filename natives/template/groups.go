package template

import "strings"

// groups are the API groups of kinds that were without one before OpenShift 3.6, as OpenShift's library has
// them. A cluster knows them by their groups alone.
var groups = func() map[string]string {
	out := map[string]string{}
	for group, kinds := range map[string]string{
		"apps": "DeploymentConfig DeploymentConfigList DeploymentConfigRollback DeploymentLog DeploymentLogOptions " +
			"DeploymentRequest",
		"authorization": "ClusterRole ClusterRoleBinding ClusterRoleBindingList ClusterRoleList " +
			"IsPersonalSubjectAccessReview LocalResourceAccessReview LocalSubjectAccessReview " +
			"ResourceAccessReview ResourceAccessReviewResponse Role RoleBinding RoleBindingList RoleBindingRestriction " +
			"RoleBindingRestrictionList RoleList SelfSubjectRulesReview " +
			"SubjectAccessReview SubjectAccessReviewResponse SubjectRulesReview",
		"build": "BinaryBuildRequestOptions Build BuildConfig BuildConfigList BuildList BuildLog BuildLogOptions " +
			"BuildRequest",
		"image": "Image ImageList ImageSignature ImageStream ImageStreamImage ImageStreamImport ImageStreamList " +
			"ImageStreamMapping ImageStreamTag ImageStreamTagList",
		"network": "ClusterNetwork ClusterNetworkList EgressNetworkPolicy EgressNetworkPolicyList HostSubnet " +
			"HostSubnetList NetNamespace NetNamespaceList",
		"oauth": "OAuthAccessToken OAuthAccessTokenList OAuthAuthorizeToken OAuthAuthorizeTokenList OAuthClient " +
			"OAuthClientAuthorization OAuthClientAuthorizationList OAuthClientList OAuthRedirectReference",
		"project": "Project ProjectList ProjectRequest",
		"quota": "AppliedClusterResourceQuota AppliedClusterResourceQuotaList ClusterResourceQuota " +
			"ClusterResourceQuotaList",
		"route": "Route RouteList",
		"security": "PodSecurityPolicyReview PodSecurityPolicySelfSubjectReview PodSecurityPolicySubjectReview " +
			"SecurityContextConstraints SecurityContextConstraintsList",
		"template": "Template TemplateList",
		"user":     "Group GroupList Identity IdentityList User UserIdentityMapping UserList",
	} {
		for kind := range strings.FieldsSeq(kinds) {
			out[kind] = group + ".openshift.io"
		}
	}
	return out
}()

// setGroup gives an object of a kind that moved into an API group the name of that group. An apiVersion that
// values made none is empty, as is a missing one.
func setGroup(object map[string]any) {
	version, kind := typeOf(object)
	if group := groups[kind]; group != "" && !strings.Contains(version, "/") {
		version = group + "/" + version
	}
	object["apiVersion"], object["kind"] = version, kind
}
