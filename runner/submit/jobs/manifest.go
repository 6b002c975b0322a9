package jobs

// Manifest is a Job as the API of Kubernetes has it, in JSON. It has the fields
// that prcheck writes or reads, in the order in which Kubernetes writes them.
type Manifest struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	Metadata   `json:"metadata"`
	Spec       JobSpec   `json:"spec"`
	Status     JobStatus `json:"status"`
}

// Metadata names an object of the cluster.
type Metadata struct {
	Name      string            `json:"name,omitempty"`
	Namespace string            `json:"namespace,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
}

// JobSpec says what a Job shall run.
type JobSpec struct {
	Parallelism             int           `json:"parallelism,omitempty"`
	Completions             int           `json:"completions,omitempty"`
	ActiveDeadlineSeconds   *int64        `json:"activeDeadlineSeconds,omitempty"` // nil: no deadline
	PodFailurePolicy        failurePolicy `json:"podFailurePolicy"`
	BackoffLimitPerIndex    int           `json:"backoffLimitPerIndex"`
	Template                PodTemplate   `json:"template"`
	TTLSecondsAfterFinished int64         `json:"ttlSecondsAfterFinished"`
	CompletionMode          string        `json:"completionMode,omitempty"`
	PodReplacementPolicy    string        `json:"podReplacementPolicy,omitempty"`
}

// failurePolicy says what the exit code of a pod means for its Job.
type failurePolicy struct {
	Rules []failureRule `json:"rules"`
}

type failureRule struct {
	Action          string              `json:"action"`
	OnExitCodes     *onExitCodes        `json:"onExitCodes,omitempty"`
	OnPodConditions []podConditionMatch `json:"onPodConditions,omitempty"`
}

type onExitCodes struct {
	ContainerName string `json:"containerName"`
	Operator      string `json:"operator"`
	Values        []int  `json:"values"`
}

type podConditionMatch struct {
	Type   string `json:"type"`
	Status string `json:"status"`
}

// PodTemplate is what every pod of a Job looks like.
type PodTemplate struct {
	Metadata `json:"metadata"`
	Spec     PodSpec `json:"spec"`
}

// PodSpec says what a pod runs, and with which rights.
type PodSpec struct {
	Volumes                      []volume           `json:"volumes,omitempty"`
	Containers                   []Container        `json:"containers"`
	RestartPolicy                string             `json:"restartPolicy,omitempty"`
	ServiceAccountName           string             `json:"serviceAccountName,omitempty"`
	AutomountServiceAccountToken bool               `json:"automountServiceAccountToken"`
	SecurityContext              podSecurityContext `json:"securityContext"`
	EnableServiceLinks           bool               `json:"enableServiceLinks"`
}

type volume struct {
	Name     string   `json:"name"`
	EmptyDir struct{} `json:"emptyDir"`
}

type podSecurityContext struct {
	RunAsNonRoot   bool           `json:"runAsNonRoot"`
	SeccompProfile seccompProfile `json:"seccompProfile"`
}

type seccompProfile struct {
	Type string `json:"type"`
}

// Container is a program in a pod.
type Container struct {
	Name                     string                   `json:"name"`
	Image                    string                   `json:"image,omitempty"`
	Command                  []string                 `json:"command,omitempty"`
	Args                     []string                 `json:"args,omitempty"`
	WorkingDir               string                   `json:"workingDir,omitempty"`
	EnvFrom                  []envFrom                `json:"envFrom,omitempty"`
	Env                      []envVar                 `json:"env,omitempty"`
	Resources                resources                `json:"resources"`
	VolumeMounts             []volumeMount            `json:"volumeMounts,omitempty"`
	TerminationMessagePolicy string                   `json:"terminationMessagePolicy,omitempty"`
	SecurityContext          containerSecurityContext `json:"securityContext"`
}

// envFrom takes the variables of a container from the keys of a Secret. The
// other fields stay empty in our manifests; they tell other Jobs apart from ours.
type envFrom struct {
	Prefix       string     `json:"prefix,omitempty"`
	ConfigMapRef any        `json:"configMapRef,omitempty"`
	SecretRef    *secretRef `json:"secretRef,omitempty"`
}

type secretRef struct {
	Name     string `json:"name,omitempty"`
	Optional *bool  `json:"optional,omitempty"`
}

// envVar is one variable of a container. ValueFrom stays empty in our manifests;
// it tells other Jobs apart from ours.
type envVar struct {
	Name      string `json:"name"`
	Value     string `json:"value,omitempty"`
	ValueFrom any    `json:"valueFrom,omitempty"`
}

// resources are amounts by the name of the resource, such as memory: 2Gi.
type resources struct {
	Limits   map[string]string `json:"limits,omitempty"`
	Requests map[string]string `json:"requests,omitempty"`
}

type volumeMount struct {
	Name      string `json:"name"`
	MountPath string `json:"mountPath"`
}

type containerSecurityContext struct {
	Capabilities             capabilities `json:"capabilities"`
	ReadOnlyRootFilesystem   bool         `json:"readOnlyRootFilesystem"`
	AllowPrivilegeEscalation bool         `json:"allowPrivilegeEscalation"`
}

type capabilities struct {
	Drop []string `json:"drop,omitempty"`
}

// JobStatus says how far a Job is. Only the cluster writes it.
type JobStatus struct {
	Conditions    []Condition `json:"conditions,omitempty"`
	Active        int         `json:"active,omitempty"`
	Succeeded     int         `json:"succeeded,omitempty"`
	FailedIndexes string      `json:"failedIndexes,omitempty"`
	Ready         int         `json:"ready,omitempty"`
}

// Condition is a fact about a Job or a pod, such as that the Job is complete.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// A pod of a Job, as far as it says why it does not start.
type pod struct {
	Metadata `json:"metadata"`
	Status   podStatus `json:"status"`
}

type podStatus struct {
	Conditions        []Condition       `json:"conditions,omitempty"`
	ContainerStatuses []containerStatus `json:"containerStatuses,omitempty"`
}

type containerStatus struct {
	State struct {
		Waiting *waiting `json:"waiting,omitempty"`
	} `json:"state"`
}

type waiting struct {
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}
