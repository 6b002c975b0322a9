// Package notices sends what people are told: CloudEvents 1.0 to an address, and statuses to commits of repositories at
// GitHub or GitLab. Each request goes to the one address that the settings of base name, by POST alone.
package notices
