package sharding

import (
	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
)

// Declared returns the strategy by objects that managed[].sharding of an
// integration's definition names, none when there is none or they name several.
// What is divided by [Index] alone is not divided for a dry-run.
func Declared(name string, b *bundle.Bundle) integration.Strategy {
	found := integration.StrategyNone
	for _, f := range b.BySchema(integration.DefinitionSchema) {
		if f.Object().String("name") != name {
			continue
		}
		v, _ := f.Object().Get("managed")
		list, _ := v.([]any)
		for _, v := range list {
			s := declared(v)
			if found != integration.StrategyNone && s != found || s == integration.StrategyNone {
				return integration.StrategyNone
			}
			found = s
		}
	}
	return found
}

func declared(managed any) integration.Strategy {
	of, ok := managed.(*bundle.Object)
	if !ok {
		return integration.StrategyNone
	}
	word := object(of, "sharding").String("strategy")
	for s := range table {
		if s.String() == word {
			return s
		}
	}
	return integration.StrategyNone
}
