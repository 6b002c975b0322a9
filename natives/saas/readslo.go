package saas

import (
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/internal/pyjson"
)

// readSLOs reads the SLO documents.
func (r *reader) readSLOs(rows []row) {
	r.slos = map[string]*SLODocument{}
	for i := range rows {
		of := []row{rows[i]}
		each(r, of, func(path string, a sloAnswer) {
			d := &SLODocument{Path: path, Name: a.Name, content: sloContent(of[0].raw)}
			for _, n := range a.Namespaces {
				d.Namespaces = append(d.Namespaces, sloNamespace(n))
			}
			for _, s := range a.SLOs {
				target, err := s.Target.Float64()
				if err != nil {
					d.Broken = fmt.Sprintf("%s: the target %.40q of %.40q is no number", path, s.Target, s.Name)
				}
				d.SLOs = append(d.SLOs, SLO{Name: s.Name, Expression: s.Expression, Window: s.Parameters.Window, Target: target})
			}
			r.slos[path] = d
		})
	}
}

// sloNamespace returns where an SLO document is measured.
func sloNamespace(a sloNamespaceAnswer) SLONamespace {
	out := SLONamespace{Cluster: a.Namespace.Cluster.Name, Namespace: a.Namespace.Name,
		URL: value(a.Namespace.Cluster.PrometheusURL), Token: a.Namespace.Cluster.Token.ref()}
	if a.SLONamespace != nil {
		out.Namespace = a.SLONamespace.Name
	}
	if a.Access != nil {
		out.URL, out.User, out.Password, out.Token = a.Access.URL, a.Access.User.ref(), a.Access.Password.ref(), nil
	}
	return out
}

// sloContent returns an SLO document as targets remember it: as it was asked for, without its path.
func sloContent(raw []byte) any {
	v, err := pyjson.Read(string(raw))
	o, ok := v.(*pyjson.Object)
	if err != nil || !ok {
		return nil
	}
	delete(o.Values, "path")
	o.Keys = slices.DeleteFunc(o.Keys, func(key string) bool { return key == "path" })
	return o
}
