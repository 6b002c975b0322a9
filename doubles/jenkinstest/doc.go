// Package jenkinstest provides a Jenkins for tests: jobs with builds, and the one address that
// tells about them. It refuses requests that a real Jenkins would refuse, and a test can make
// any request fail.
package jenkinstest
