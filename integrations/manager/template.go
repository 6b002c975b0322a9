package manager

// readTemplate reads the template of pods of the installation. It returns why nothing can be
// deployed with it, or "".
func (b *builder) readTemplate() string { return "" }
