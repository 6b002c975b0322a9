// Package manager deploys integrations: one Deployment, StatefulSet or CronJob for each shard
// of each integration, where the definitions say that it runs.
//
// What the data say: an element of managed of a definition (/app-sre/integration-1.yml) names a
// namespace, a spec and a sharding. Package sharding divides it into processes, package render
// makes their objects. The objects of one upstream in one namespace are one part of the work;
// its shard is cluster/namespace, and its caller is the upstream. The key of an object is
// cluster/namespace/Kind/name. The Service of a namespace belongs to its first upstream.
//
// An integration that cannot be rendered keeps its objects: instead of them, the part has an
// item cluster/namespace/Integration/NAME that says why. A definition whose mistake hides in
// which namespaces it runs has such an item in each part of its upstream. Parameters of an
// environment that cannot be used, a cluster without an address or a token, and a template of
// pods that cannot be used leave out their parts as a whole.
//
// Values that only a run knows are open in the desired state: variables of the process that
// pass_env names, and the commits of refs. Complete fills them in. A ref whose commit cannot be
// found is an error of its part, of which nothing is written or deleted then.
//
// Its settings stand under settings of the integration in prcheck.yaml:
//
//	key                 default                      is
//	upstream            all                          deploy only definitions with exactly this upstream
//	environment         all                          deploy only to namespaces of the environment of this name
//	mode                default                      default, or parity: objects as the chart of qontract-reconcile makes them
//	template            our own                      path of a resource of the data with the template of pods
//	exclude_service     false                        namespaces have no Service
//	gov_slack           false                        logs go to the Slack of the government as well
//	image               the parameter IMAGE          image of all integrations, without a tag
//	image_tag_from_ref  none                         environment: ref. The tag is the commit of this ref of the upstream
//	github.url          https://api.github.com       where commits of refs are asked for
//	github.token        none                         path, field (and version) of the secret with the token
//	pass_env            none                         parameters whose values are variables of the process, if it has them
//	options             all                          integration: options of its command. One that is missing here is assumed to have all
//	canary              none                         integration: keys of shards that must be ready before their siblings are written
//	delete              none                         cluster/namespace: everything of ours there must go
//	left_behind         report                       report, or delete: what is in namespaces that no entry names any more
//	migrate_selector    false                        objects whose selector must change are made anew
//	override_managers   none                         field managers whose fields may be overridden
//	take_fields_from    those of kubectl and oc      field managers whose fields become ours, once
//	wait                5m, for canaries alone       how long to wait until what was written is ready; if it is set, for all shards
//	natives.names       none                         integrations that run as natives of prcheck
//	natives.image       none                         reference of the image of prcheck that runs them
//	natives.args        [reconcile]                  arguments of that image
//
// Awkward cases: an account that disables an integration is no shard of it, and an integration
// without shards runs nowhere, with a warning. An entry that says delete is looked at for names
// and kinds alone. A parameter that is no text becomes JSON; null is not given. A value of the
// data with the text ${late: is refused, since it could stand for an open value.
package manager
