// Package saastest makes worlds of SaaS files for tests: datafiles that the real engine for
// queries answers about.
//
//	w := saastest.New()
//	w.Set(saastest.File, "main", "resourceTemplates", 0, "targets", 0, "ref")
//	query := w.Query(t)
//
// [Large] makes a world of any size. The types of the data are those of app-interface, as far as
// SaaS files need them.
package saastest
