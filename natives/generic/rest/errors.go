package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/operation"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

// A Class says what to do about an error.
type Class string

// The classes.
const (
	Retry  Class = "retry"  // it passes by itself soon
	Slow   Class = "slow"   // somebody has to do something: a lock, a permission, a quota
	Fatal  Class = "fatal"  // the data or the settings are wrong
	Reread Class = "reread" // the resource changed meanwhile
	Gone   Class = "gone"   // it is not there
)

// ErrPending says that an operation goes on. It is no failure: a later run resumes it.
var ErrPending = integration.Failure(integration.FailureTransient,
	errors.New("the operation goes on; the next run asks again"))

// An Error is a request that failed.
type Error struct {
	Class   Class
	Code    string // of the service, or one of ours such as LRO_FAILED, LRO_HOST, VERIFY_MISMATCH
	Status  int    // of HTTP, 0 if there was no answer
	Target  string // the property that the service names, "" if none
	Message string // without secrets
	// After is how long the service asked to wait, 0 if it did not.
	After time.Duration
	// Overrides are entries that let the next change be refused before it is sent.
	Overrides []classes.Entry
	// IsOfOperation says that the service took the request, and the operation that it began failed.
	IsOfOperation bool

	err error
	// isUnheard says that the service certainly did not carry out the request.
	isUnheard bool
	// isDoubtful says that it is not known whether it did: the resource tells.
	isDoubtful bool
	// isForeign says that the body is none of the service: a proxy may have answered.
	isForeign bool
	conflicts []conflict
}

// Error returns the message with the overrides that it teaches.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Status != 0 {
		fmt.Fprintf(&b, "status %d ", e.Status)
	}
	if e.Code != "" {
		b.WriteString(e.Code + " ")
	}
	if e.Target != "" {
		fmt.Fprintf(&b, "at %s ", e.Target)
	}
	text := strings.TrimSpace(b.String())
	if e.Message != "" {
		if text != "" {
			text += ": "
		}
		text += e.Message
	}
	for _, o := range e.Overrides {
		raw, _ := json.Marshal(o) // texts always encode
		text += "; to be told before the change is merged, add the override " + string(raw)
	}
	return text
}

// Unwrap returns the error of the transport, if there is one.
func (e *Error) Unwrap() error { return e.err }

// FailureClass returns the class of the error in the results of an integration.
func (e *Error) FailureClass() string {
	switch {
	case e.Class == Retry, e.Class == Reread:
		return string(integration.FailureTransient)
	case e.Class == Fatal && e.Status >= 400 && e.Status < 500,
		integration.ClassOfFailure(e.err) == integration.FailureOfConfig:
		return string(integration.FailureOfConfig)
	}
	return ""
}

// failed returns the error of an operation that failed.
func (c *Client) failed(r operation.Ending, typeName string) *Error {
	f := failure{Code: r.Code, Message: r.Message}
	e := f.error(typeName, c.text)
	e.IsOfOperation = true
	if known, ok := knownCodes[strings.ToLower(r.Code)]; !ok || known == Gone {
		e.Class = Fatal
	}
	if r.Code != operation.CodeFailed && r.Code != operation.CodeHost {
		e.Message = strings.TrimSpace(operation.CodeFailed + " " + e.Message)
	}
	return e
}

// refusal returns an error about an answer that is no answer.
func refusal(status int, format string, args ...any) *Error {
	return &Error{Class: Fatal, Status: status, Message: fmt.Sprintf(format, args...)}
}

// knownCodes are codes of services, in lower case, whose meaning their status does not tell.
var knownCodes = func() map[string]Class {
	out := map[string]Class{}
	for class, codes := range map[Class][]string{
		// Something else goes on, or what is referred to is on its way.
		Retry: {
			"anotheroperationinprogress", "operationinprogress", "operationpreempted", "conflict", "conflictingoperation",
			"concurrentoperation",
			"parentresourcenotfound", "resourcegroupnotfound", "resourcegroupbeingdeleted", "invalidresourcereference",
			"principalnotfound",
			"failedidentityoperation", "allocationfailed", "zonalallocationfailed", "overconstrainedallocationrequest",
			"retryableerror", "toomanyrequests", "subscriptionrequeststhrottled", "resourcerequeststhrottled", "serverbusy",
			"servertimeout",
			"serviceunavailable", "internalservererror", "operationtimedout", "gatewaytimeout",
			"referencedresourcenotprovisioned",
			// A registration takes some minutes.
			"subscriptionnotregistered", "missingsubscriptionregistration", "missingregistrationforlocation",
			"invalidsubscriptionregistrationstate", "noregisteredproviderfound",
		},
		// A lock, a permission or a quota: somebody has to act.
		Slow: {
			"scopelocked", "authorizationfailed", "linkedauthorizationfailed", "requestdisallowedbypolicy",
			"roleassignmentlimitexceeded",
			"quotaexceeded", "resourcequotaexceeded", "operationnotallowed", "readonlydisabledsubscription",
		},
		// The request is wrong, whatever its status is.
		Fatal: {
			"badrequest", "badrequestformat", "invalidparameter", "invalidparametervalue", "invalidrequestcontent",
			"invalidrequestformat",
			"invalidtemplate", "invalidvaluesforrequestparameters", "invalidresourcetype", "invalidresourcename",
			"invalidresourcelocation",
			"invalidresourcegrouplocation", "invalidapiversionparameter", "invalidgatewaysize",
			"invalidgatewayskuprovidedforgatewayvpntype",
			"locationrequired", "locationnotavailableforresourcetype", "missingrequiredparameter", "missingapiversionparameter",
			"methodnotallowed",
			"passwordtoolong", "privateipaddressinreservedrange", "privateipaddressnotinsubnet", "propertychangenotallowed",
			"publicipforgatewayisrequired", "reservedresourcename", "regionisofferrestricted", "skunotavailable",
			"subscriptionnotfound",
			// A name that somebody else has, anywhere in the world.
			"vaultalreadyexists", "storageaccountalreadytaken", "namenotavailable", "websitealreadyexists",
			"servicenameunavailable",
			"namespacealreadyexists", "registrynameinuse", "servernamealreadyexists", "accountalreadyexists",
			"invalidsubscriptionid", "authenticationfailed", "invalidauthenticationtoken", "expiredauthenticationtoken",
		},
		// It changed since it was read.
		Reread: {"preconditionfailed", "conditionnotmet", "etagmismatch"},
	} {
		for _, code := range codes {
			out[code] = class
		}
	}
	return out
}()

// takenNames are the ends of codes, in lower case, that say with a conflict that a name is taken: no waiting helps.
var takenNames = []string{"alreadyexists", "alreadytaken", "nameinuse", "notavailable"}
