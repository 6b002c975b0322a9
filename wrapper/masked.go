package wrapper

// Mask replaces every form of the secrets in a text, as it is done in logs.
func Mask(text string, secrets ...string) string { return newMasker(secrets).text(text) }
