package mapped

// Bytes returns the bytes of the file, which the caller must not change.
func (f *File) Bytes() []byte { return f.raw }
