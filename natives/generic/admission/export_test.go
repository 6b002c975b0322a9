package admission

// Occupy takes all places of large reviews.
func (h *Handler) Occupy() {
	for range cap(h.lanes.large) {
		h.lanes.large <- struct{}{}
	}
}

// The bounds of a review, and what cuts one.
const SmallBody = smallBody

var CutMember = cutMember
