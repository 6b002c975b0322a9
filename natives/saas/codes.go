package saas

import (
	"github.com/app-sre/prcheck/plan"
)

// The codes of mistakes of saas files.
const (
	CodeRef    plan.FindingCode = "SAAS_REF"    // a ref does not fit to how the target is deployed
	CodeImages plan.FindingCode = "SAAS_IMAGES" // images and upstream at once, or patterns
	// a channel without publisher, with a circle, or of two repositories
	CodeChannel    plan.FindingCode = "SAAS_CHANNEL"
	CodeName       plan.FindingCode = "SAAS_NAME"       // a name that cannot be used, or is used twice
	CodeNamespace  plan.FindingCode = "SAAS_NAMESPACE"  // no namespace, or one that cannot be used
	CodeSelector   plan.FindingCode = "SAAS_SELECTOR"   // a selector of namespaces
	CodeParameters plan.FindingCode = "SAAS_PARAMETERS" // parameters that cannot be used
	CodeSecret     plan.FindingCode = "SAAS_SECRET"     // a secret that is not allowed
	CodeApp        plan.FindingCode = "SAAS_APP"        // the app, its owners or repositories
	CodeSchedule   plan.FindingCode = "SAAS_SCHEDULE"   // a window that does not open
	CodeTimeout    plan.FindingCode = "SAAS_TIMEOUT"    // a time that pipelines do not accept
	CodeUpstream   plan.FindingCode = "SAAS_UPSTREAM"   // the job that a target waits for
	CodeUnused     plan.FindingCode = "SAAS_UNUSED"     // what saas files say and nothing here does
)
