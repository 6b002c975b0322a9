package classes

// The bounds of a listing.
const (
	maxListed = 50_000
	maxLevels = 100
)

// All returns all properties of a type, the outer ones first. It stops where a property holds
// an object of a kind that it stands in, and inside of what is read-only: there, everything
// is so. isCut says that there are more than a listing holds; each of them can still be
// explained.
func (c *Classifier) All() (all []*Property, isCut bool, err error) {
	l := listing{Classifier: c}
	err = l.walk(c.root(), 0)
	return l.all, l.isCut, err
}

type listing struct {
	*Classifier
	all   []*Property
	isCut bool
}

func (l *listing) walk(n *node, level int) error {
	steps, err := n.steps()
	if err != nil {
		return err
	}
	for _, st := range steps {
		if l.isCut = l.isCut || level >= maxLevels || len(l.all) >= maxListed; l.isCut {
			return nil
		}
		child, err := l.child(n, st)
		if err != nil {
			return err
		}
		p, _, err := l.classify(child)
		if err != nil {
			return err
		}
		l.all = append(l.all, p)
		if p.Cyclic = child.isCyclic(); p.Cyclic || p.ReadOnly != nil && p.ReadOnly.Source != ByFamily {
			continue
		}
		if err := l.walk(child, level+1); err != nil {
			return err
		}
	}
	return nil
}
