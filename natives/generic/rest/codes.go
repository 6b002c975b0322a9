package rest

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
