# Needs git, make, npm and any Node from 18 on: npm brings the Node that everything below runs on.
SHELL := /bin/sh
BIN := node_modules/.bin
# The Node that npm brought, also for the programs that it starts.
WITH_NODE := PATH="$(CURDIR)/$(BIN):$$PATH"
NODE := $(WITH_NODE) $(BIN)/node
# Redocly would otherwise report every run, and the tools look for newer versions of themselves.
export REDOCLY_TELEMETRY := off
export REDOCLY_SUPPRESS_UPDATE_NOTICE := true

.DEFAULT_GOAL := help
.PHONY: help setup generate docs client format lint types test mutants contract conformance check bench kills feed failover backups deliveries upgrades sync model documents pictures interop mock release start dev clean

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: node_modules/.package-lock.json ## Install what the lock file names, if that isn't done yet
	@:

# npm writes this file last, so an interrupted installation starts over.
node_modules/.package-lock.json: package-lock.json
	@echo 'Installing what package-lock.json names; that takes a minute or two.'
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@

generate: setup ## Write generated/ anew from the three YAML files
	npm run --silent generate && npm run --silent generate:day

docs: generated/reference.html generated/feed-reference.html ## Build the references, if generated/ changed

generated/reference.html: generated/openapi.json
generated/feed-reference.html: generated/feed.json
generated/reference.html generated/feed-reference.html: $(wildcard src/server/reference/*) node_modules/.package-lock.json
	$(BIN)/node src/server/reference/build.ts $(notdir $@)

client: generated/client.tgz ## Build the integrators' package, if anything in it changed

generated/client.tgz: $(shell find src/client src/command-line src/tables src/contract src/release -type f) src/errors.ts src/sqlite-look.ts $(wildcard src/examples/*) generated/openapi.dereferenced.json generated/recorded-day.json package.json node_modules/.package-lock.json
	$(WITH_NODE) $(BIN)/node src/release/client.ts

format: setup ## Format everything, and repair what the linters can
	npm run --silent format

lint: setup ## Formatting, imports, code rules and contract rules
	npm run --silent lint

types: setup ## Check the types
	npm run --silent types

test: setup ## Run everything: lint, types, and all tests
	npm test --silent

mutants: setup ## Plant faults in the source one by one, and see that tests fail; six minutes (WORDS='some words': those with them)
	@$(NODE) test/mutants/run.ts $(WORDS)

contract: setup ## Only the contract suite, on the mock and on the server
	@$(NODE) test/run.ts $(wildcard test/contract/suite-*.test.ts)

conformance: setup ## Run the contract suite against a deployment: URL=https://... KEYS=keys.json, or URL of the mock alone
	@$(NODE) test/contract/conformance.ts "$(URL)" "$(KEYS)"

check: test ## Run all tests, and see that generated/ is fresh: needed before a merge
	@git diff --exit-code -- generated

# Programs that only measurements and a release need have lock files of their own.
test/%/node_modules/.package-lock.json: test/%/package-lock.json node_modules/.package-lock.json
	@echo 'Installing what $< names.'
	cd $(<D) && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

interop: setup client test/interop/node_modules/.package-lock.json ## Try the contract with other people's generators and compilers, before a release; two minutes
	@$(NODE) test/run.ts $(wildcard test/interop/*.test.ts) && $(NODE) test/interop/note-versions.ts

bench: setup test/bench/node_modules/.package-lock.json ## Measure, and compare within the run
	@$(NODE) test/bench/run.ts

kills: setup ## Kill a feed on SQLite 200 times and compare what is left; some minutes
	KILLS=200 TEST_FILE_SECONDS=1800 $(NODE) test/run.ts test/server/backoffice/kill.test.ts

feed: setup ## Send the feed over HTTP 20,000 requests, and kill it 150 times on each engine; an hour
	FEED_REQUESTS=20000 FEED_KILLS=150 TEST_PROCESSES=1 TEST_FILE_SECONDS=7200 $(NODE) test/run.ts test/server/feed/fuzz.test.ts test/server/feed/kill.test.ts

failover: setup ## Kill the primary under a feed 20 times, and let its standby take over; some minutes
	FAILOVERS=20 TEST_FILE_SECONDS=3600 $(NODE) test/run.ts test/server/store/engines/failover.test.ts

backups: setup ## Kill a backup 100 times and look at what is left; some minutes
	BACKUP_KILLS=100 TEST_FILE_SECONDS=1800 $(NODE) test/run.ts test/server/commands/backup.test.ts

deliveries: setup ## Kill delivery workers 1,000 times on SQLite and 200 on PostgreSQL, and hand-overs 100 times on each; an hour
	DELIVERY_KILLS=1000 HAND_OVER_KILLS=100 TEST_PROCESSES=1 TEST_FILE_SECONDS=7200 $(NODE) test/run.ts test/server/features/webhooks/deliveries/delivery-kills.test.ts test/server/features/hand-over/kills.test.ts

upgrades: setup ## Upgrade 100,000 records, and kill that 100 times on each engine; half an hour
	UPGRADE_RECORDS=100000 UPGRADE_KILLS=100 TEST_FILE_SECONDS=7200 $(NODE) test/run.ts test/server/store/migrations/upgrade.test.ts

sync: setup ## Copy 20,000 changes of a day and a million invoices, and kill that 100 times; an hour
	SYNC_CHANGES=20000 SYNC_KILLS=100 SYNC_INVOICES=1000000 TEST_PROCESSES=1 TEST_FILE_SECONDS=7200 $(NODE) test/run.ts test/client/sync-day.test.ts test/client/sync-scale.test.ts test/client/commands/pull.test.ts

model: setup ## Compare 1,000 random sequences of moves with a model, on each engine; half an hour
	@MODEL_SEQUENCES=1000 TEST_FILE_SECONDS=7200 $(NODE) test/run.ts test/model/model.test.ts

documents: setup ## Make the documents of 1,000 random sales, and compare API, pages and e-invoices; half an hour
	@DOCUMENTS=1000 TEST_FILE_SECONDS=7200 $(NODE) test/run.ts test/server/e-invoice/random-documents.test.ts

pictures: setup ## Paint the README's pictures of the portal and of an invoice, from the demo company
	@$(NODE) test/browser/pictures.ts > /dev/null

# A server takes the shell's place, so that signals reach it.
mock: setup ## Serve the contract's examples on http://127.0.0.1:4010
	@exec $(BIN)/node $(BIN)/prism mock generated/openapi.json --host 127.0.0.1 --port 4010

start: setup docs client ## Serve the demo company, and print a request to try
	@$(WITH_NODE) exec src/fieldledger.js serve --demo

dev: setup docs ## The same, starting again whenever a source file changes
	@exec $(BIN)/node --watch-path=src --watch-path=generated src/fieldledger.js serve --demo

release: setup docs ## Build into release/ what is handed out: two npm packages, and an archive that needs nothing (ARM64=1: one for arm64 too)
	@$(WITH_NODE) $(BIN)/node src/release/build.ts $(if $(ARM64),--arm64)

clean: ## Remove what make brought here, except data/
	rm -rf node_modules test/*/node_modules .tap generated/*reference.html generated/client.* release
