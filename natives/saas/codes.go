package saas

import "github.com/app-sre/prcheck/natives/reconcile"

// The codes of mistakes of saas files.
const (
	CodeRef        reconcile.Code = "SAAS_REF"        // a ref does not fit to how the target is deployed
	CodeImages     reconcile.Code = "SAAS_IMAGES"     // images and upstream at once, or patterns
	CodeChannel    reconcile.Code = "SAAS_CHANNEL"    // a channel without publisher, with a circle, or of two repositories
	CodeName       reconcile.Code = "SAAS_NAME"       // a name that cannot be used, or is used twice
	CodeNamespace  reconcile.Code = "SAAS_NAMESPACE"  // no namespace, or one that cannot be used
	CodeSelector   reconcile.Code = "SAAS_SELECTOR"   // a selector of namespaces
	CodeParameters reconcile.Code = "SAAS_PARAMETERS" // parameters that cannot be used
	CodeSecret     reconcile.Code = "SAAS_SECRET"     // a secret that is not allowed
	CodeApp        reconcile.Code = "SAAS_APP"        // the app, its owners or repositories
	CodeSchedule   reconcile.Code = "SAAS_SCHEDULE"   // a window that does not open
	CodeTimeout    reconcile.Code = "SAAS_TIMEOUT"    // a time that pipelines do not accept
	CodeUpstream   reconcile.Code = "SAAS_UPSTREAM"   // the job that a target waits for
	CodeUnused     reconcile.Code = "SAAS_UNUSED"     // what saas files say and nothing here does
)
