SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV := .venv
FORMATS := $(VENV)/formats
MATRIX := $(VENV)/matrix
PORTABILITY := $(VENV)/portability
DEBEZIUM := $(VENV)/debezium
PYTHONS := 3.11 3.12 3.13
# Besides the newest, which requirements.lock pins.
CLICKHOUSES := $(patsubst tests/matrix/chdb-core-%.lock,%,$(wildcard tests/matrix/chdb-core-*.lock))
SQLFLUFFS := $(patsubst tests/matrix/sqlfluff-%.lock,%,$(wildcard tests/matrix/sqlfluff-*.lock))
LOG := logs/setup.log
PLUGINS := $(patsubst %/pyproject.toml,%,$(wildcard plugins/*/pyproject.toml))
# Not macros and tests/generic: sqlfluff's dbt templater passes over files of macros.
SQL_FOLDERS := $(wildcard models tests/singular analyses)
PIP_INSTALL := -m pip --disable-pip-version-check --no-input install
PIP := $(VENV)/bin/python $(PIP_INSTALL)

.PHONY: help demo follow live-cdc shop-stream dialects postgresql mariadb report test test-all fast conformance formats matrix portability cluster soak faults check docs site browser bench setup java chromium clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: setup ## Run the whole pipeline on the shipped change streams
	@$(VENV)/bin/python scripts/demo.py

follow: setup ## Apply batches as they land in data/landing, until Ctrl-C
	@$(VENV)/bin/python -m dbt.adapters.spark_clickhouse follow $(ARGS)

live-cdc: setup postgresql $(DEBEZIUM) ## Change a PostgreSQL and follow it with Debezium, until Ctrl-C; ARGS="--minutes 10" ends by itself
	@PYTHONPATH=$(DEBEZIUM) $(VENV)/bin/python -m scripts.live_cdc $(ARGS)

shop-stream: setup postgresql $(DEBEZIUM) ## Make data/landing and data/expected anew, with Debezium on a PostgreSQL
	@PYTHONPATH=$(DEBEZIUM) $(VENV)/bin/python -m scripts.shop.stream $(ARGS)

dialects: setup postgresql mariadb $(DEBEZIUM) ## Make the fixtures of Debezium's dialects anew; NAMES="mysql_flat" for some
	@PYTHONPATH=$(DEBEZIUM) $(VENV)/bin/python -m scripts.debezium.dialects $(NAMES)
	@$(if $(NAMES),,PYTHONPATH=$(DEBEZIUM) $(VENV)/bin/python -m scripts.debezium.races)
	@$(if $(NAMES),,PYTHONPATH=$(DEBEZIUM) $(VENV)/bin/python -m scripts.debezium.moves)

report: setup ## Write target/report.html: rows, runs, quarantine, views, tests and storage of the tables
	@$(VENV)/bin/python -m dbt.adapters.spark_clickhouse report $(ARGS)

test: java setup postgresql ## Show every guarantee once; RECORD=yes: record what the tests cost
	@$(VENV)/bin/pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not all" $(if $(RECORD),--record-durations)

test-all: test $(DEBEZIUM) ## Run make test, and then the tests that it leaves out; RECORD=yes: record what they cost
	@PYTHONPATH=$(abspath $(DEBEZIUM)) $(VENV)/bin/pytest -n 2 --dist loadfile --no-loadscope-reorder -m all $(if $(RECORD),--record-durations)

fast: setup ## Run the tests that need no engine
	@$(VENV)/bin/pytest -n 2 --dist loadfile --no-loadscope-reorder -m fast

conformance: setup ## Run dbt-tests-adapter through the plugin; STOCK=yes: dbt-spark's own tests too, and what is left out through the stock adapters
	@failed=; \
	run() { $(VENV)/bin/python "$$@" -q -rfE -W ignore --tb=short --show-capture=no; }; \
	trap 'kill $$on_spark' INT TERM; \
	for stock in $(if $(STOCK),--whole --stock,""); do \
		run -m pytest tests/conformance/test_on_spark.py $$stock & on_spark=$$!; \
		run -m pytest tests/conformance/test_on_clickhouse.py $$stock || failed=yes; \
		$(if $(STOCK),run tests/conformance/own_tests_of_spark.py $${stock#--whole} || failed=yes;) \
		wait $$on_spark || failed=yes; \
	done; \
	[ -z "$$failed" ]

formats: java setup $(addprefix $(FORMATS)/,moto spark-4.2 spark-4.1) ## Run change sets in S3, in Delta Lake and in Iceberg; fetches about 2 GB
	@PYTHONPATH=$(FORMATS)/moto $(VENV)/bin/pytest tests/formats

matrix: java setup postgresql ## Run the fast tests on each Python that is there, what needs ClickHouse alone on the oldest that is supported, and the lint rules on each sqlfluff
	@failed=; \
	for python in $(PYTHONS); do \
		if ! python$$python -c '' 2>/dev/null; then echo "Python $$python: not found, left out"; continue; fi; \
		echo "Python $$python:"; \
		$(MAKE) $(MATRIX)/python-$$python && $(MATRIX)/python-$$python/bin/pytest -m fast -q \
			|| failed="$$failed Python-$$python"; \
	done; \
	for clickhouse in $(CLICKHOUSES); do \
		echo "ClickHouse $$clickhouse:"; \
		$(MAKE) $(MATRIX)/chdb-core-$$clickhouse && PYTHONPATH=$(MATRIX)/chdb-core-$$clickhouse \
			$(VENV)/bin/pytest -n 2 --dist loadfile -m engine -q || failed="$$failed ClickHouse-$$clickhouse"; \
	done; \
	for sqlfluff in $(SQLFLUFFS); do \
		echo "sqlfluff $$sqlfluff:"; \
		$(MAKE) $(MATRIX)/sqlfluff-$$sqlfluff && PYTHONPATH=$(MATRIX)/sqlfluff-$$sqlfluff \
			$(VENV)/bin/pytest plugins/sqlfluff-plugin-versioned-collapsing/tests -q || failed="$$failed sqlfluff-$$sqlfluff"; \
	done; \
	if [ -n "$$failed" ]; then echo "Failed:$$failed" >&2; exit 1; fi

portability: setup $(addprefix $(PORTABILITY)/,dbt-core-1.12 dbt-2) ## Run the tests of macros and materializations on dbt-core 1.12, and parse with it and with dbt 2
	@failed=; \
	$(VENV)/bin/pytest tests/portability || failed=yes; \
	PYTHONPATH=$(abspath $(PORTABILITY)/dbt-core-1.12) $(VENV)/bin/pytest -n 2 --dist loadfile \
		tests/macros tests/materialization plugins/dbt-spark-clickhouse/tests \
		--deselect plugins/dbt-spark-clickhouse/tests/unit/test_private_api.py::test_versions_of_the_advice_are_those_that_are_installed \
		|| failed=yes; \
	[ -z "$$failed" ]

cluster: java setup ## Run the shop on a Spark cluster and a ClickHouse server on this machine, and break both while it runs
	@$(VENV)/bin/pytest tests/cluster

soak: java setup ## Run the long tests: random histories, deaths at every statement, kills for an hour, each setting of ClickHouse
	@$(VENV)/bin/pytest tests/materialization/test_histories.py -k random --histories 5000 60 200
	@$(VENV)/bin/pytest tests/materialization/test_deltas.py --deltas 10000
	@$(VENV)/bin/pytest tests/model --exhaustive
	@$(VENV)/bin/pytest tests/materialization/test_life.py --lives 60
	@$(VENV)/bin/pytest tests/materialization/test_deaths.py tests/materialization/test_rebuild.py \
		tests/materialization/test_histories.py tests/materialization/test_history.py tests/materialization/test_atomic.py \
		tests/materialization/test_views.py tests/materialization/test_view_selects.py \
		tests/end_to_end/test_shop.py tests/bridges/test_shop.py --exhaustive
	@$(VENV)/bin/python -m tests.faults --minutes 60 --kinds SIGKILL
	@$(VENV)/bin/pytest tests/end_to_end/test_deaths_on_spark.py --spark-deaths 100
	@$(VENV)/bin/pytest tests/materialization/test_every_setting.py --every-setting
	@$(VENV)/bin/pytest tests/end_to_end/test_many_batches.py --batches 200
	@$(VENV)/bin/pytest tests/change_sets/test_many_folders.py --folders 20000
	@$(VENV)/bin/pytest tests/end_to_end/test_long_values.py --long-values

faults: java setup ## Run the fault campaign for MINUTES=60; SEED=1 for the same again, REPEAT=<seed>:<number> for one life, KINDS="ledger" for some faults
	@$(VENV)/bin/python -m tests.faults $(if $(REPEAT),--repeat $(REPEAT)) \
		--minutes $(or $(MINUTES),60) $(if $(SEED),--seed $(SEED)) $(if $(KINDS),--kinds "$(KINDS)")

check: setup ## Lint, check formatting and types
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	SPARK_CLICKHOUSE_HOME=target/sqlfluff $(VENV)/bin/dbt --quiet parse
	SPARK_CLICKHOUSE_HOME=target/sqlfluff $(VENV)/bin/sqlfluff lint $(SQL_FOLDERS)

docs: setup ## Generate the docs site
	@$(VENV)/bin/dbt docs generate
	@echo "To read it: $(VENV)/bin/dbt docs serve, and there: #!/overview/versioned_collapsing"

site: setup $(VENV)/site ## Build the documentation as a site with a search, in target/site; a dead link fails it
	@$(VENV)/bin/python site/stage.py
	@NO_MKDOCS_2_WARNING=1 $(VENV)/site/bin/mkdocs build --config-file site/mkdocs.yml
	@echo "To read it: python3 -m http.server --directory target/site, then http://localhost:8000. Without a server, its pages have no search."

browser: site chromium ## Open dbt's site, the report and the documentation in Chromium; screenshots in target/browser
	@$(VENV)/bin/pytest tests/browser

bench: setup ## Run the benchmarks, small; SIZE=full for the figures of docs/benchmarks.md
	@$(VENV)/bin/python -m benchmarks.run $(if $(filter full,$(SIZE)),--full)

setup: $(VENV)/.set-up ## Install what the others need, if anything is missing or has changed

clean: ## Remove what runs leave behind, the embedded stores too; keeps .venv
	@rm -rf target logs dbt_packages .spark_clickhouse metastore_db derby.log spark-warehouse
	@rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find . \( -path ./.git -o -path ./$(VENV) \) -prune -o -type d -name __pycache__ -exec rm -rf {} +

# The rest is set-up. Every stamp is written last, so that a step which was interrupted runs again.

# Ends a command: its output goes to the log, of which the end is shown when the command fails.
logged = >> $(LOG) 2>&1 || { \
	tail -n 30 $(LOG) >&2; \
	echo "That failed; all of its output is in $(LOG)." >&2; \
	exit 1; }

# $(call install_packages,<Debian packages>,<what is missing>)
# Slim images lack the folder for manual pages, and Java's package cannot be configured without it
# (debuerreotype issue 10).
install_packages = \
	if ! command -v apt-get >/dev/null || ! grep -Eqs '^ID(_LIKE)?=.*debian' /etc/os-release; then \
		echo "$(2) was not found. This is no Debian system: install it, then run make again." >&2; \
		exit 1; \
	elif [ "$$(id -u)" -eq 0 ]; then \
		as_root=; \
	elif command -v sudo >/dev/null; then \
		as_root=sudo; \
	else \
		echo "$(2) was not found. As root, run: apt-get install $(1)" >&2; \
		exit 1; \
	fi; \
	echo "Installing $(1) ..."; \
	mkdir -p $(dir $(LOG)); \
	{ $$as_root mkdir -p /usr/share/man/man1 \
		&& $$as_root apt-get update \
		&& $$as_root env DEBIAN_FRONTEND=noninteractive apt-get install \
			-y --no-install-recommends -o DPkg::Lock::Timeout=300 $(1); } $(logged)

# Spark clusters take the Java of JAVA_HOME where that is set, and the one on the PATH otherwise. The embedded Spark has
# one from the lock. Once there is another Java, Spark is prepared for that.
java_is_usable = java_version="$$("$${JAVA_HOME:+$$JAVA_HOME/bin/}java" -version 2>&1 \
		| sed -nE 's/.* version "(1\.)?([0-9]+).*/\2/p')" \
	&& [ "$${java_version:-0}" -ge 17 ]

java:
	@if $(java_is_usable); then \
		exit 0; \
	elif [ -n "$${JAVA_HOME:-}" ]; then \
		echo "JAVA_HOME ($$JAVA_HOME) holds no Java 17 or newer: unset it, or let it name one." >&2; \
		exit 1; \
	fi; \
	$(call install_packages,openjdk-17-jre-headless,Java 17 or newer); \
	rm -f $(VENV)/.set-up; \
	if ! { $(java_is_usable); }; then \
		echo "The java on the PATH is still older than 17: let JAVA_HOME name a newer one." >&2; \
		exit 1; \
	fi

# Each release of Debian has one version of PostgreSQL.
postgresql:
	@if ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then \
		$(call install_packages,postgresql,PostgreSQL); \
	fi

mariadb:
	@if ! command -v mariadbd >/dev/null && ! [ -x /usr/sbin/mariadbd ]; then \
		$(call install_packages,mariadb-server,MariaDB); \
	fi

chromium:
	@if ! command -v chromium >/dev/null; then $(call install_packages,chromium,Chromium); fi

# Sets the shell variable python; dbt-core 1.11 has no support for 3.14, and the lock none for 3.10.
find_python = for python in $(PYTHON) python3.11 python3 python3.12 python3.13 /usr/bin/python3 none; do \
		if "$$python" -c 'import ensurepip, sys, venv; \
			sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; then break; fi; \
	done

# $(call install_lock,<environment>)
# pip, setuptools and what they build come from the lock: nothing is fetched that it does not pin.
install_lock = awk '/^[^ \#]/ { is_wanted = /^(pip|setuptools)==/ } is_wanted' requirements.lock > $(1)/build-tools.lock; \
	$(1)/bin/python $(PIP_INSTALL) --require-hashes -r $(1)/build-tools.lock $(logged); \
	$(1)/bin/python $(PIP_INSTALL) --require-hashes --no-build-isolation -r requirements.lock $(logged)

$(VENV)/.packages: requirements.lock
	@rm -f $@; \
	mkdir -p $(dir $(LOG)); \
	$(find_python); \
	if [ "$$python" = none ]; then \
		$(call install_packages,python3 python3-venv,Python 3.11 to 3.13 with its venv module); \
		$(find_python); \
	fi; \
	if [ "$$python" = none ]; then \
		echo "Python 3.11 to 3.13 was not found: install one, or run make PYTHON=/path/to/python3." >&2; \
		exit 1; \
	fi; \
	echo "Creating $(VENV) with $$("$$python" --version) ..."; \
	"$$python" -m venv --clear $(VENV) $(logged); \
	echo "Installing pinned packages (about 850 MB; a minute or more) ..."; \
	$(call install_lock,$(VENV))
	@touch $@

$(VENV)/.set-up: $(VENV)/.packages $(PLUGINS:=/pyproject.toml)
	@rm -f $@; \
	mkdir -p $(dir $(LOG)); \
	echo "Installing $(notdir $(PLUGINS)) ..."; \
	$(PIP) --no-deps --no-build-isolation $(addprefix -e ,$(PLUGINS)) $(logged); \
	echo "Preparing Spark, so that it starts faster (up to a minute) ..."; \
	$(VENV)/bin/python -m dbt.adapters.spark_clickhouse.spark.prepare $(logged)
	@touch $@

$(MATRIX)/python-%: requirements.lock $(PLUGINS:=/pyproject.toml)
	@rm -rf $@; \
	mkdir -p $(dir $(LOG)); \
	echo "Installing pinned packages for Python $* ..."; \
	python$* -m venv $@ $(logged); \
	$(call install_lock,$@); \
	$@/bin/python $(PIP_INSTALL) --no-deps --no-build-isolation $(addprefix -e ,$(PLUGINS)) $(logged)
	@touch $@

# Other versions of single packages, each in a folder that goes before the packages of the lock.
$(MATRIX)/%: tests/matrix/%.lock $(VENV)/.packages
	@rm -rf $@ $@.new; \
	mkdir -p $(dir $(LOG)); \
	echo "Installing $* ..."; \
	$(PIP) --require-hashes --no-deps --target $@.new -r $< $(logged); \
	mv $@.new $@
	@touch $@

# Other dbts, each in a folder that goes before the packages of the lock. --no-deps: dbt-core 1.12 requires a parser that
# it fetches from outside the registry, and does without it.
$(PORTABILITY)/%: tests/portability/%.lock $(VENV)/.packages
	@rm -rf $@ $@.new; \
	mkdir -p $(dir $(LOG)); \
	echo "Installing $* ..."; \
	$(PIP) --require-hashes --no-deps --only-binary :all: --target $@.new -r $< $(logged); \
	mv $@.new $@
	@touch $@

# Only the jars of the package count: py4j, which Spark brings, runs them.
$(DEBEZIUM): scripts/debezium/debezium.lock $(VENV)/.packages
	@rm -rf $@ $@.new; \
	mkdir -p $(dir $(LOG)); \
	echo "Installing Debezium (200 MB) ..."; \
	$(PIP) --require-hashes --no-deps --only-binary :all: --target $@.new -r $< $(logged); \
	mv $@.new $@
	@touch $@

$(VENV)/site: site/site.lock $(VENV)/.packages
	@rm -rf $@; \
	mkdir -p $(dir $(LOG)); \
	echo "Installing what builds the site ..."; \
	$(VENV)/bin/python -m venv $@ $(logged); \
	$@/bin/python $(PIP_INSTALL) --require-hashes --only-binary :all: -r $< $(logged)
	@touch $@

# Other Sparks and what stands in for S3, each in a folder that goes before the packages of the lock.
$(FORMATS)/%: tests/formats/%.lock $(VENV)/.packages
	@rm -rf $@ $@.new; \
	mkdir -p $(dir $(LOG)); \
	echo "Installing $* ..."; \
	$(PIP) --require-hashes --no-deps --no-build-isolation --target $@.new -r $< $(logged); \
	mv $@.new $@
	@touch $@
