# What is done often. The steps themselves stand in .ci/run.
.DEFAULT_GOAL := help
.PHONY: help check test lint bench benchmarks fuzz apiserver build golden score laws mutants judges

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  \1\t/' | expand -t 12

check: ## everything that CI checks
	.ci/run

test: ## all tests
	go test ./...

lint: ## format, vet, linters
	.ci/run format vet lint

bench: ## one table of CPU times, with cmp, git, Node and Python beside them (5 minutes)
	go run ./bench

benchmarks: ## all benchmarks of packages
	go test -run '^$$' -bench . -benchmem ./...

fuzz: ## every fuzz target for a minute
	FUZZ_TIME=1m .ci/run fuzz

apiserver: ## build kube-apiserver and kubectl for the tests on a real API server, and keep them (10 minutes)
	.ci/apiserver

build: ## planner, runner and reconciler into bin/
	go build -trimpath -o bin/ ./cmd/...

laws: build ## the laws over random repositories and specifications: make laws [PAIRS=20000 WORLDS=1000000 SEED=1 SPECS=DIR,DIR]
	go run ./laws/worlds --pairs $(or $(PAIRS),20000) --seed $(or $(SEED),1) --runner bin/runner --planner bin/planner --keep .laws
	go run ./laws/worlds --upsets --pairs $(or $(PAIRS),10000) --seed $(or $(SEED),1) --runner bin/runner --planner bin/planner --keep .laws
	go run ./laws/secrets --pairs $(or $(PAIRS),10000) --seed $(or $(SEED),1)
	go run ./laws/effects --changes $(or $(PAIRS),10000) --seed $(or $(SEED),1)
	go run ./laws/owners --worlds $(or $(WORLDS),1000000) --seed $(or $(SEED),1)
	go run ./laws/proofs --scenes $(or $(SCENES),2000) --seed $(or $(SEED),1)
	go run ./laws/owners --mutants
	go run ./laws/queue --worlds $(or $(WORLDS),1000000) --seed $(or $(SEED),1)
	go run ./laws/queue --mutants
	go run ./laws/queue
	go run ./laws/specs --specs $(or $(SPECS),examples/cloud/resources/cloud) --seeds 5 --seed $(or $(SEED),1)

mutants: ## how often tests notice small changes: make mutants [CHANGES=150 SEED=1 PACKAGES="planner gql"] (hours)
	go run ./laws/mutants --changes $(or $(CHANGES),150) --seed $(or $(SEED),1) $(PACKAGES)

judges: ## the programs that judge our engines, for longer: make judges [TIMES=20 SEED=1]
	JUDGE_TIMES=$(or $(TIMES),20) JUDGE_SEED=$(or $(SEED),1) .ci/run judges

score: ## score selectors on the cases of conformance/
	go test ./conformance -run TestScore -v -count 1

golden: ## rewrite the golden files; review the diff like code
	go test $$(git grep -l --untracked 'flag.Bool("update"' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|') -update
