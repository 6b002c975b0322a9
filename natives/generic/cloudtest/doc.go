// Package cloudtest makes worlds of APIs and resources for tests: datafiles and specifications
// about which the real engine for queries answers.
//
//	w := cloudtest.New("https://arm.example")
//	w.Add("/r/cache.yml", cloudtest.Object{"type": "Acme.Cache/stores", "name": "a", "parent": cloudtest.Group, "body": …})
//	query := w.Query(t)
package cloudtest
