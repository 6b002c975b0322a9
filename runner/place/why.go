package place

// WhyNotBase says why a run of a task on base says nothing about base, "" if it does: base's files
// are not known, and the task may use files of head in their place.
func (p *Places) WhyNotBase(usesFiles bool) string {
	if p == nil || p.Base != nil || p.Shared || !usesFiles {
		return ""
	}
	return "base's files are not known, so it would run in those of head: name base as a revision, or give its " +
		"files with --base-dir"
}

// MayBeOfHead reports whether tasks on both sides start in a folder outside of the checkout, which
// a job may have made of head's files.
func (p *Places) MayBeOfHead() bool {
	if p == nil || !p.OfJob || p.Base == nil {
		return false
	}
	at, err := p.start()
	return err != nil || at.Outside != ""
}
