# SPDX-License-Identifier: GPL-2.0-or-later
# Build, test, install: `make help` lists targets and knobs.

# Knobs (also from the environment)
O       ?= build
CC      ?= gcc
CFLAGS  ?= -O2 -g
prefix  ?= /usr/local
bindir  ?= $(prefix)/bin
datadir ?= $(prefix)/share/kregress
mandir  ?= $(prefix)/share/man
completiondir ?= $(prefix)/share/bash-completion/completions
DESTDIR ?=
# Compiler of the static programs that run in a guest
GUEST_CC ?= $(CC)

JOBS    ?= $(shell nproc)

VERSION := $(shell cat VERSION)
PKGS    := libgit2 inih sqlite3 libarchive jansson gsl nettle libssh2
MISSING := $(shell pkg-config --exists $(PKGS) 2>/dev/null || echo yes)

# One short line a command; V=1 shows the command itself
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-8s%s\n' $(1) $@)

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wformat=2 -Wvla -Wwrite-strings -Wundef -Wcast-qual
ALL_CPPFLAGS = -D_GNU_SOURCE -DKR_VERSION='"$(VERSION)"' -DKR_DATADIR='"$(datadir)"' -Isrc -I$(O)/include \
	$(shell pkg-config --cflags $(PKGS) 2>/dev/null) $(CPPFLAGS)
ALL_CFLAGS = -std=c17 $(WARN) -MMD -MP $(CFLAGS)
LIBS = $(shell pkg-config --libs $(PKGS) 2>/dev/null) -lm

SRC := $(wildcard src/*/*.c)
OBJ := $(SRC:src/%.c=$(O)/%.o)
LIB := $(O)/libkregress.a
HDR := $(wildcard src/*/*.h)

WORKLOADS := $(notdir $(wildcard workloads/*/*.ini))
WORKLOADS := $(WORKLOADS:%.ini=%)
GUEST := $(WORKLOADS:%=$(O)/workloads/%) $(O)/qemu/agent

UNIT := $(patsubst tests/%.c,$(O)/tests/%,$(wildcard tests/unit/*.c tests/sim/*.c tests/contract/*.c))
FUZZ := $(patsubst tests/%.c,$(O)/tests/%,$(wildcard tests/fuzz/*.c))
BENCH := $(patsubst tests/%.c,$(O)/tests/%,$(wildcard tests/bench/*.c))
E2E_C := $(patsubst tests/%.c,$(O)/tests/%,$(wildcard tests/e2e/*.c))

.PHONY: all deps demo check check-quick check-layers check-headers check-format lint bench bench-noise soak \
	tests workloads install uninstall clean help sanitize
.DEFAULT_GOAL := all

all: kregress workloads

kregress: $(O)/kregress
	@cp -f $< $@

$(O)/kregress: $(O)/main.o $(LIB)
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(LIB): $(OBJ)
	@rm -f $@
	$(call say,AR)
	$(Q)$(AR) rcs $@ $^

$(O)/%.o: src/%.c | deps-present
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

.PHONY: deps-present
deps-present:
ifeq ($(MISSING),yes)
	@echo "libraries are missing: run 'make deps' (needs root or sudo)" >&2; exit 1
endif

workloads: $(GUEST)

$(O)/qemu/agent: qemu/agent.c
	@mkdir -p $(@D)
	$(call say,GUESTCC)
	$(Q)$(GUEST_CC) -D_GNU_SOURCE -std=c17 $(WARN) -MMD -MP -O2 -static -o $@ $<
	@strip $@

define workload_rule
$(O)/workloads/$(1): $$(wildcard workloads/$(1)/*.c)
	@mkdir -p $$(@D)
	$$(call say,GUESTCC)
	$$(Q)$$(GUEST_CC) -D_GNU_SOURCE -std=c17 $$(WARN) -MMD -MP -Iworkloads -O2 -static -pthread -o $$@ $$^ -lm
	@strip $$@
endef
$(foreach w,$(WORKLOADS),$(eval $(call workload_rule,$(w))))

# Test programs: one binary a file, all against the library. Literal argument vectors are handy
# there: no -Wwrite-strings.
$(O)/tests/%: tests/%.c $(LIB)
	@mkdir -p $(@D)
	$(call say,TESTCC)
	$(Q)$(CC) $(ALL_CPPFLAGS) -Itests $(ALL_CFLAGS) -Wno-write-strings $(LDFLAGS) -o $@ $< $(LIB) \
		$(LIBS) -lcmocka

tests: $(UNIT) $(FUZZ) $(E2E_C)

deps:
	contrib/install-deps build check demo

-include $(OBJ:.o=.d) $(O)/main.d $(UNIT:=.d) $(FUZZ:=.d) $(BENCH:=.d) $(E2E_C:=.d) $(GUEST:=.d)

# ---- checks ---------------------------------------------------------------------------------

CLI_TESTS := $(sort $(wildcard tests/cli/[0-9]*.sh))
E2E_TESTS := $(sort $(wildcard tests/e2e/[0-9]*.sh))

# Everything that CI runs; installs what is missing; ends with "N passed, N failed, N skipped".
check:
	contrib/install-deps build check demo
	@$(MAKE) --no-print-directory -j$(JOBS) check-built

.PHONY: check-built
check-built: all tests sanitized demo-kernel machine-kernel
	tests/run-all full

# The tests that need no kernel: seconds, for work in progress
check-quick: all tests
	tests/run-all quick

check-layers:
	tests/check-layers

check-headers:
	tests/check-headers

check-format:
	clang-format-14 --dry-run --Werror src/main.c $(SRC) $(HDR) $(wildcard qemu/*.[ch] \
		workloads/*/*.[ch] tests/*/*.[ch] tests/*/*/*.[ch])

lint:
	tests/lint

# The same tests with AddressSanitizer and UndefinedBehaviorSanitizer
SAN := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
.PHONY: sanitized
sanitized:
	$(Q)$(MAKE) --no-print-directory O=$(O)/san CFLAGS="-O1 -g $(SAN)" GUEST_CC="$(GUEST_CC)" $(O)/san/kregress tests-san
.PHONY: tests-san
tests-san: $(UNIT) $(FUZZ)

# A kernel for the tests in QEMU: the demo's, from the demo's caches
.PHONY: demo-kernel
demo-kernel: all
	tests/e2e/demo prepare

# A machine for the tests over SSH, and its kernels, in the demo's caches
.PHONY: machine-kernel
machine-kernel: demo-kernel
	tests/e2e/demo machine

demo:
	contrib/install-deps build demo
	@$(MAKE) --no-print-directory -j$(JOBS) all
	tests/e2e/demo run

bench: all $(BENCH)
	tests/bench/run

# The culprit under noise: simulated campaigns, then recorded boots of real kernels
CAMPAIGNS ?= 1000
SEED ?= 20261130
bench-noise: $(O)/tests/bench/bench_noise $(O)/tests/bench/bench_replay
	@ret=0; \
	$(O)/tests/bench/bench_noise -n $(CAMPAIGNS) -s $(SEED) -j 2 $(if $(ROWS),-r '$(ROWS)') || ret=1; \
	$(O)/tests/bench/bench_replay -n $(CAMPAIGNS) -s $(SEED) tests/bench/boots-demo.txt || ret=1; \
	exit $$ret

soak: all tests
	KREGRESS_SOAK=1 tests/run-all soak

# ---- installation ---------------------------------------------------------------------------

install: all
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(datadir)/qemu $(DESTDIR)$(datadir)/configs/kernel \
		$(DESTDIR)$(datadir)/configs/campaigns $(DESTDIR)$(mandir)/man1 $(DESTDIR)$(completiondir)
	install -m 755 $(O)/kregress $(DESTDIR)$(bindir)/kregress
	install -m 755 $(O)/qemu/agent $(DESTDIR)$(datadir)/qemu/agent
	install -m 644 qemu/*.ini $(DESTDIR)$(datadir)/qemu
	install -m 644 configs/kernel/*.config $(DESTDIR)$(datadir)/configs/kernel
	install -m 644 configs/campaigns/*.ini $(DESTDIR)$(datadir)/configs/campaigns
	for w in $(WORKLOADS); do \
		install -d $(DESTDIR)$(datadir)/workloads/$$w && \
		install -m 644 workloads/$$w/$$w.ini workloads/$$w/README.md \
			$(DESTDIR)$(datadir)/workloads/$$w && \
		install -m 755 $(O)/workloads/$$w $(DESTDIR)$(datadir)/workloads/$$w/$$w || exit 1; \
	done
	install -m 644 doc/kregress.1 $(DESTDIR)$(mandir)/man1/kregress.1
	install -m 644 contrib/completion/kregress.bash $(DESTDIR)$(completiondir)/kregress

uninstall:
	rm -rf $(DESTDIR)$(datadir)
	rm -f $(DESTDIR)$(bindir)/kregress $(DESTDIR)$(mandir)/man1/kregress.1 \
		$(DESTDIR)$(completiondir)/kregress

clean:
	rm -rf $(O) kregress

help:
	@echo "make             ./kregress and the programs that run in a guest"
	@echo "make demo        a real bisection of a real kernel in QEMU (installs what it needs)"
	@echo "make check       all tests (installs what they need)"
	@echo "make check-quick the tests that need no kernel"
	@echo "make bench       figures of speed and memory    make soak   the long tests"
	@echo "make bench-noise  the culprit under noise: CAMPAIGNS=$(CAMPAIGNS) SEED=$(SEED) ROWS='d = 2'"
	@echo "make lint        clang-tidy and cppcheck        make check-format"
	@echo "make deps        install Debian packages (root or sudo)"
	@echo "make install     DESTDIR, prefix, bindir, datadir, mandir    make uninstall"
	@echo "Knobs: O=$(O) CC=$(CC) CFLAGS='$(CFLAGS)' GUEST_CC=$(GUEST_CC) V=1"
