// Package builds reads the builds of jobs of Jenkins.
//
// One request tells about all jobs of a server. A job in a folder is named by its way there, such
// as folder/job/name, as it stands in addresses. The server tells at most a hundred builds of a
// job.
package builds
