package manifests

import (
	"fmt"
	"github.com/app-sre/prcheck/internal/phrase"
	"maps"
	"slices"
	"strings"
)

// Awaits reports whether objects of a kind become ready some time after they were written. All
// others are ready at once.
func Awaits(k Kind) bool {
	return k == Deployment || k == StatefulSet || healths[k.Name] != nil && k.Group == healthGroups[k.Name]
}

// The kinds beside Deployment and StatefulSet whose status says whether they are ready, and their
// groups.
var (
	healths = map[string]func(*Live) Health{
		"Job": (*Live).jobHealth, "DeploymentConfig": (*Live).replicaHealth, "Subscription": (*Live).subscriptionHealth,
		"ClowdApp": (*Live).clowdAppHealth, "ClowdJobInvocation": (*Live).clowdJobHealth,
	}
	healthGroups = map[string]string{
		"Job": "batch", "DeploymentConfig": "apps.openshift.io", "Subscription": "operators.coreos.com",
		"ClowdApp": "cloud.redhat.com", "ClowdJobInvocation": "cloud.redhat.com",
	}
)

// healthOf returns the health of an object that is no Deployment or StatefulSet:
//
//	Job                 ready if it succeeded, failed if its controller says so
//	DeploymentConfig    ready if all replicas are new and ready
//	Subscription        ready if its state is AtLatestKnown
//	ClowdApp            ready if all managed deployments are ready
//	ClowdJobInvocation  ready if it completed, failed if one of its jobs did
//
// All other kinds are ready at once.
func (l *Live) healthOf() Health {
	health := healths[l.Kind.Name]
	if !Awaits(l.Kind) || health == nil {
		return Health{Ready: true}
	}
	if l.IsDeleting {
		return Health{Reason: "it is being deleted"}
	}
	return health(l)
}

func (l *Live) jobHealth() Health {
	for _, c := range l.conditions() {
		if c.status != "True" {
			continue
		}
		switch c.kind {
		case "Complete", "SuccessCriteriaMet":
			return Health{Ready: true}
		case "Failed", "FailureTarget":
			return Health{Failed: true, Reason: phrase.Cut(c.reason+": "+c.message, maxShown)}
		}
	}
	if n, _ := whole(at(l.Object, "status", "succeeded")); n > 0 && at(l.Object, "spec", "completions") == nil {
		return Health{Ready: true} // a queue of work: one that succeeded ends it
	}
	if at(l.Object, "spec", "suspend") == true {
		return Health{Reason: "it is suspended"}
	}
	return Health{Reason: "it has not succeeded yet"}
}

func (l *Live) replicaHealth() Health {
	want, isSaid := whole(at(l.Object, "spec", "replicas"))
	if !isSaid {
		want = 1
	}
	status := func(name string) int64 { n, _ := whole(at(l.Object, "status", name)); return n }
	generation, _ := whole(at(l.Object, "metadata", "generation"))
	switch {
	case status("observedGeneration") < generation:
		return Health{Reason: "its controller has not seen the newest manifest"}
	case status("replicas") == want && status("updatedReplicas") == want && status("readyReplicas") == want:
		return Health{Ready: true}
	}
	return Health{Reason: fmt.Sprintf("%d of %d pods are new and %d are ready; %d are there", status("updatedReplicas"),
		want, status("readyReplicas"), status("replicas"))}
}

func (l *Live) subscriptionHealth() Health {
	if state := text(at(l.Object, "status", "state")); state != "AtLatestKnown" {
		return Health{Reason: fmt.Sprintf("its state is %.60q, want AtLatestKnown", state)}
	}
	return Health{Ready: true}
}

func (l *Live) clowdAppHealth() Health {
	managed, hasManaged := whole(at(l.Object, "status", "deployments", "managedDeployments"))
	ready, hasReady := whole(at(l.Object, "status", "deployments", "readyDeployments"))
	switch {
	case at(l.Object, "status", "deployments") == nil || !hasManaged && !hasReady:
		return Health{Reason: "it says nothing about its deployments"}
	case managed != ready:
		return Health{Reason: fmt.Sprintf("%d of %d deployments are ready", ready, managed)}
	}
	return Health{Ready: true}
}

func (l *Live) clowdJobHealth() Health {
	if at(l.Object, "status", "completed") != true {
		return Health{Reason: "it has not completed yet"}
	}
	jobs := texts(at(l.Object, "status", "jobMap"))
	maps.DeleteFunc(jobs, func(_, state string) bool { return state != "Failed" })
	if len(jobs) > 0 {
		return Health{Failed: true,
			Reason: "jobs failed: " + phrase.Cut(strings.Join(slices.Sorted(maps.Keys(jobs)), ", "), maxShown)}
	}
	return Health{Ready: true}
}
