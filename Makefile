# berttools. `make help` lists the targets; CONTRIBUTING.md says how the tree is laid out.
#
#   CONFIG=release|asan|tsan   what is built, under build/CONFIG/ (asan has UBSan too)
#   CC, CFLAGS, LDFLAGS        honoured; CFLAGS defaults to -O2 -g
#   HAVE_CURL=0|1              bert-fetch without or with http and https (default: as found; 1 fails where it is absent)
#   HAVE_HDF5=0|1              bert-export and bert-import with HDF5 (default: as found)
#   HAVE_DNNL=0|1              oneDNN for gradients of parameters in the cpu backend (default: 0)
#   HAVE_OPENMP=0|1            OpenMP in the cpu backend (default: as found)
#   HAVE_AVX2=0|1 HAVE_AVX512=0|1   code for those processors, chosen at run time (default: as the compiler can)
#   PREFIX=/usr/local DESTDIR= where `make install` puts things; LIBDIR, INCLUDEDIR: PREFIX/lib, PREFIX/include
#   WERROR=1                   warnings are errors
#   V=1                        show commands

.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:
.DEFAULT_GOAL := all
SHELL := bash
MAKEFLAGS += --no-builtin-rules

# --- the rooms, and what each may use (make lint holds the code to it) -------

FOLDERS := base corpus tokenizer kernels shards model trainer finetune
USES_base :=
USES_corpus := base
USES_tokenizer := base
USES_kernels := base
USES_shards := tokenizer base
USES_model := kernels base
USES_trainer := model shards kernels tokenizer base
USES_finetune := trainer model shards kernels tokenizer base

# --- packages -----------------------------------------------------------------

DEPS_BUILD := gcc make pkg-config libc6-dev libutf8proc-dev libzstd-dev libarchive-dev libxxhash-dev libexpat1-dev \
	libjansson-dev libssl-dev libcurl4-openssl-dev libhdf5-dev
DEPS_DEMO := time jq gnuplot-nox util-linux
DEPS_CHECK := $(DEPS_DEMO) g++ zstd strace libcmocka-dev bats perl universal-ctags shellcheck mandoc bzip2 xz-utils lz4 gzip procps git
DEPS_LONG := $(DEPS_CHECK) clang libclang-rt-14-dev python3 python3-venv gcc-aarch64-linux-gnu qemu-user-static

JOBS := $(shell nproc 2>/dev/null || echo 1)

# --- configuration --------------------------------------------------------------

CONFIG ?= release
BUILD := build/$(CONFIG)
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
CFLAGS ?= -O2 -g
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' $(1) $(2))

SANITIZE_release :=
SANITIZE_asan := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SANITIZE_tsan := -fsanitize=thread
ifeq ($(filter $(CONFIG),release asan tsan),)
$(error CONFIG is one of release asan tsan)
endif
SANITIZE := $(SANITIZE_$(CONFIG))

WARNINGS := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wpointer-arith -Wcast-qual \
	-Wwrite-strings -Wvla -Wundef -Wformat=2 -Wno-format-nonliteral -Wno-missing-field-initializers \
	$(if $(filter 1,$(WERROR)),-Werror)

BUILDING := $(if $(filter-out help clean deps deps-%,$(or $(MAKECMDGOALS),all)),1)
ifdef BUILDING
PACKAGES := libutf8proc libzstd libarchive libxxhash expat jansson libcrypto
MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)
HAVE_CURL ?= $(shell pkg-config --exists libcurl 2>/dev/null && echo 1 || echo 0)
HAVE_HDF5 ?= $(shell pkg-config --exists hdf5 2>/dev/null && echo 1 || echo 0)
HAVE_AVX2 ?= $(if $(filter x86_64%,$(MACHINE)),1,0)
HAVE_AVX512 ?= $(if $(filter x86_64%,$(MACHINE)),$(shell echo 'int x;' | $(CC) -mavx512vbmi2 -x c -c -o /dev/null - 2>/dev/null && echo 1 || echo 0),0)
# oneDNN only where asked for: dnnl_sgemm of Debian's 2.6.3 spoils the heap in about one short training of 200, when it
# makes its code (none in 1,380 without it). OpenMP for the loops of kernels/cpu (gcc's libgomp gives ThreadSanitizer false alarms).
HAVE_DNNL ?= 0
HAVE_OPENMP ?= $(if $(filter tsan,$(CONFIG)),0,$(shell echo 'int main(void) { return 0; }' | $(CC) -fopenmp -x c -o /dev/null - 2>/dev/null && echo 1 || echo 0))
OPENMP := $(if $(filter 1,$(HAVE_OPENMP)),-fopenmp)
OPTIONAL := $(if $(filter 1,$(HAVE_CURL)),libcurl) $(if $(filter 1,$(HAVE_HDF5)),hdf5)
PKG_CFLAGS := $(shell pkg-config --cflags $(PACKAGES) $(OPTIONAL) 2>/dev/null)
LIBS := $(shell pkg-config --libs $(PACKAGES) $(OPTIONAL) 2>/dev/null) $(if $(filter 1,$(HAVE_DNNL)),-ldnnl) -lpthread -lm
endif

FEATURES := -DHAVE_CURL=$(HAVE_CURL) -DHAVE_AVX2=$(HAVE_AVX2) -DHAVE_AVX512=$(HAVE_AVX512) -DHAVE_DNNL=$(HAVE_DNNL) -DHAVE_HDF5=$(HAVE_HDF5)
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I. -include base/banned.h $(FEATURES) $(WARNINGS) \
	$(PKG_CFLAGS) $(CFLAGS) $(SANITIZE) -fPIC -pthread -MMD -MP $(ISA) $(THREADING)
ALL_LDFLAGS = $(LDFLAGS) $(SANITIZE) -pthread -Wl,--as-needed $(OPENMP)

# Objects of another compiler or other flags are made again.
STAMP := $(BUILD)/flags
ifdef BUILDING
FLAGS_NOW := $(CC) $(filter-out -Werror,$(ALL_CFLAGS)) $(ALL_LDFLAGS)
$(shell mkdir -p $(BUILD); [ "$$(cat $(STAMP) 2>/dev/null)" = '$(subst ','\'',$(FLAGS_NOW))' ] || printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' > $(STAMP))
endif

# --- what is built ----------------------------------------------------------------

sources = $(sort $(filter-out $(addprefix %,$(SKIP)),$(shell find $(1) -name '*.c' 2>/dev/null)))
SKIP := $(if $(filter 0,$(HAVE_AVX2)),_avx2.c) $(if $(filter 0,$(HAVE_AVX512)),_avx512.c)
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(call sources,$(1)))
archive = $(BUILD)/lib/libberttools-$(1).a
# Folders that hold code, lowest last, so that the linker finds everything.
HAVE_CODE := $(foreach f,$(FOLDERS),$(if $(call sources,$(f)),$(f)))
LINK_ORDER := $(filter $(HAVE_CODE),finetune trainer model shards kernels corpus tokenizer base)

TOOLS := $(patsubst tools/%.c,%,$(wildcard tools/bert-*.c))
PROGRAMS := $(TOOLS:%=$(BUILD)/bin/%)

all: $(PROGRAMS) library ## build the programs (build/release/bin/) and the tokenizer's library

$(BUILD)/obj/%_avx2.o: ISA := -mavx2 -mbmi -mbmi2 -mfma -mf16c
$(BUILD)/obj/%_avx512.o: ISA := -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vbmi -mavx512vbmi2 -mbmi -mbmi2
$(BUILD)/obj/kernels/cpu/%.o: THREADING := $(OPENMP)
$(BUILD)/obj/%.o: %.c $(STAMP)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

define folder_rules
$(call archive,$(1)): $(call objects,$(1))
	$$(call say,AR,$$@)
	@mkdir -p $$(@D)
	$(Q)rm -f $$@ && ar rcs $$@ $$^
endef
$(foreach f,$(HAVE_CODE),$(eval $(call folder_rules,$(f))))

$(PROGRAMS): $(BUILD)/bin/%: $(BUILD)/obj/tools/%.o $(foreach f,$(LINK_ORDER),$(call archive,$(f)))
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(foreach f,$(LINK_ORDER),$(call archive,$(f))) $(LIBS)

# --- the tokenizer as a library -----------------------------------------------------

# Text to ids and back, for programs of others: static and shared, with nothing to be seen in either but
# what tokenizer/library.exports names. LIBRARY_ABI is raised when a call or a struct of those changes.
LIBRARY := libberttools-tokenizer
LIBRARY_ABI := 0
LIBRARY_HEADERS := tokenizer/tokenizer.h tokenizer/vocab.h tokenizer/ids.h tokenizer/decode.h base/buf.h base/err.h base/pool.h base/utf8.h
LIBRARY_SOURCES := $(filter-out tokenizer/learn% $(addprefix tokenizer/,letter_trie.c token_print.c token_stream.c segmenter.c \
	cut_line.c vocab_change.c tokenizer_config_carry.c word_counts.c),$(call sources,tokenizer)) \
	$(addprefix base/,buf.c cpu.c err.c fs.c pool.c sha256.c utf8.c)
LIBRARY_PACKAGES := jansson libcrypto
OBJCOPY ?= objcopy
VERSION := $(shell sed -n 's/^.define BERTTOOLS_VERSION "\(.*\)"/\1/p' base/tool.h)
LIBRARY_STATIC := $(BUILD)/library/$(LIBRARY).a
LIBRARY_SHARED := $(BUILD)/library/$(LIBRARY).so.$(VERSION)

library: $(LIBRARY_STATIC) $(LIBRARY_SHARED) ## build the tokenizer's library

$(BUILD)/library/$(LIBRARY).o: $(LIBRARY_SOURCES:%.c=$(BUILD)/obj/%.o) tokenizer/library.exports
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -nostdlib -r -o $@.tmp $(filter %.o,$^) && $(OBJCOPY) --keep-global-symbols=tokenizer/library.exports $@.tmp $@ && rm $@.tmp
$(LIBRARY_STATIC): $(BUILD)/library/$(LIBRARY).o
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $<
$(LIBRARY_SHARED): $(BUILD)/library/$(LIBRARY).o
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -shared $(if $(SANITIZE),,-Wl$(comma)-z$(comma)defs) -Wl,-Bsymbolic-functions -Wl,-soname,$(LIBRARY).so.$(LIBRARY_ABI) -o $@ $< \
		$(shell pkg-config --libs $(LIBRARY_PACKAGES)) -lpthread

# --- tests ------------------------------------------------------------------------

# tests/unit/FOLDER/test_x.c links its own folder and those below, so an upward call fails.
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(foreach f,$(HAVE_CODE),$(wildcard tests/unit/$(f)/test_*.c)))
room = $(word 1,$(subst /, ,$(patsubst $(BUILD)/tests/%,%,$(1))))
room_archives = $(foreach f,$(filter $(1) $(USES_$(1)),$(LINK_ORDER)),$(call archive,$(f)))
.SECONDEXPANSION:
$(UNIT): $(BUILD)/tests/%: $(BUILD)/obj/tests/unit/%.o $$(call room_archives,$$(call room,$$@))
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(call room_archives,$(call room,$@)) -lcmocka $(LIBS)

# The kernels' harness: every op of every backend against the reference, and gradients by differences.
HARNESS := $(BUILD)/tests/kernels/harness
$(HARNESS): $(call objects,tests/kernels) $(call room_archives,kernels)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# What tests/bench/reading.sh measures with.
READING := $(BUILD)/tests/bench/reading
$(READING): $(BUILD)/obj/tests/bench/reading.o $(foreach f,$(LINK_ORDER),$(call archive,$(f)))
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(foreach f,$(LINK_ORDER),$(call archive,$(f))) $(LIBS)

# tests/fuzz/fuzz_x.c with its corpus in tests/fuzz/corpus/x/: replayed here, grown by `make fuzz`.
FUZZ := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_REPLAY := $(FUZZ:%=$(BUILD)/tests/replay_%)
$(FUZZ_REPLAY): $(BUILD)/tests/replay_%: $(BUILD)/obj/tests/fuzz/%.o $(BUILD)/obj/tests/fuzz/replay.o $(foreach f,$(LINK_ORDER),$(call archive,$(f)))
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(BUILD)/obj/tests/fuzz/replay.o $(foreach f,$(LINK_ORDER),$(call archive,$(f))) $(LIBS)

FUZZERS := $(FUZZ:%=build/fuzz/%)
FUZZ_SECONDS ?= 20
# Every source once with clang, whatever the number of targets.
FUZZ_FLAGS := -O1 -g -std=gnu11 -D_GNU_SOURCE -I. -include base/banned.h -DHAVE_CURL=$(HAVE_CURL) -DHAVE_AVX2=0 -DHAVE_AVX512=0 -DHAVE_DNNL=0 -DHAVE_HDF5=$(HAVE_HDF5) \
	$(PKG_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all -pthread
FUZZ_OBJECTS := $(patsubst %.c,build/fuzz/obj/%.o,$(filter-out %_avx2.c %_avx512.c,$(foreach f,$(HAVE_CODE),$(call sources,$(f)))))
build/fuzz/obj/%.o: %.c
	$(call say,CLANG,$<)
	@mkdir -p $(@D)
	$(Q)clang $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<
$(FUZZERS): build/fuzz/%: build/fuzz/obj/tests/fuzz/%.o $(FUZZ_OBJECTS)
	$(call say,FUZZ,$@)
	$(Q)clang $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)
.PRECIOUS: build/fuzz/obj/tests/fuzz/%.o

fuzz: $(FUZZERS) ## run every fuzz target for FUZZ_SECONDS (needs clang)
	$(Q)for t in $(FUZZ); do mkdir -p build/fuzz/new/$$t; echo "fuzz: $$t"; \
		build/fuzz/$$t -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=4096 -print_final_stats=0 -verbosity=0 -artifact_prefix=build/fuzz/ \
			build/fuzz/new/$$t tests/fuzz/corpus/$${t#fuzz_} || exit 1; done

TEST_ENV = BIN=$(abspath $(BUILD))/bin TESTS=$(abspath $(BUILD))/tests TOP=$(CURDIR) CONFIG=$(CONFIG)
PROVE = $(TEST_ENV) prove -j2 --timer --exec tests/run.sh

check: deps-check ## install what the tests need, then run them (make test)
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) WERROR=1 test

test: need-check all $(UNIT) $(HARNESS) $(FUZZ_REPLAY) ## run the tests; installs nothing
	$(Q)$(MAKE) --no-print-directory lint
	$(Q)$(PROVE) $(UNIT) $(wildcard tests/cli/*.bats) $(wildcard tests/kernels/*.sh) $(wildcard tests/e2e/*.sh) tests/man-examples.sh tests/fuzz/replay.sh

test-fast: all $(UNIT) $(HARNESS) ## unit and command-line tests only
	$(Q)$(PROVE) $(UNIT) $(wildcard tests/cli/*.bats)

check-long: deps-long ## the tests under ASan, UBSan and TSan, then the fuzzers and the peers
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) CONFIG=asan CFLAGS="-O1 -g" test
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) CONFIG=tsan CFLAGS="-O1 -g" test
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) fuzz
	$(Q)$(MAKE) --no-print-directory all
	$(Q)$(TEST_ENV) prove --timer --exec tests/run.sh $(wildcard tests/long/*.sh)

lint: ## arrows between folders, budgets, man pages, shell scripts
	$(Q)BUILD=$(BUILD) tests/lint/arrows.sh $(foreach f,$(FOLDERS),'$(f): $(USES_$(f))')
	$(Q)tests/lint/budgets.sh
	$(Q)tests/lint/pages.sh
	$(Q)tests/lint/shell.sh
	$(Q)$(MAKE) --no-print-directory CONFIG=$(CONFIG) lint-link

# Each folder as a shared object with only the folders it may use, undefined symbols refused.
lint-link: $(foreach f,$(HAVE_CODE),$(BUILD)/lint/$(f).so)
$(BUILD)/lint/%.so: $$(call room_archives,$$*)
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -fsanitize=%,$(ALL_LDFLAGS)) $(SANITIZE) -shared $(if $(SANITIZE),,-Wl$(comma)-z$(comma)defs) -o $@ -Wl,--whole-archive $(call archive,$*) -Wl,--no-whole-archive \
		$(filter-out $(call archive,$*),$^) $(LIBS)
comma := ,

bench: all $(HARNESS) $(READING) ## speed and memory of every stage (BENCH_MB megabytes of text), growth up to 2 GB
	$(Q)$(TEST_ENV) tests/bench/stages.sh
	$(Q)$(TEST_ENV) tests/bench/growth.sh
	$(Q)$(TEST_ENV) tests/bench/sizes.sh
	$(Q)$(TEST_ENV) tests/bench/reading.sh
	$(Q)$(TEST_ENV) tests/bench/tokenizer.sh
	$(Q)$(TEST_ENV) tests/bench/training.sh
	$(Q)$(HARNESS) bench

demo: deps-demo ## a raw Wikipedia dump and novels to a pre-trained and fine-tuned BERT, from nothing
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) -s all
	$(Q)$(MAKE) --no-print-directory -f pipelines/demo/demo.mk BIN=$(abspath $(BUILD))/bin

demo-clean: ## remove what the demo made
	$(Q)rm -rf build/demo

# --- packages -----------------------------------------------------------------------

deps: deps-check ## install the Debian packages that building and testing need

# Root, or sudo without a password, installs; anybody else is told the one command.
define deps_recipe
	$(Q)missing=$$(for p in $(1); do dpkg-query -W -f='$${db:Status-Abbrev}' $$p 2>/dev/null | grep -q '^ii' || echo $$p; done); \
	[ -z "$$missing" ] && exit 0; missing=$$(echo $$missing); \
	if ! command -v apt-get >/dev/null; then echo "make: this system has no apt-get; install the equivalents of: $$missing" >&2; exit 0; fi; \
	if [ $$(id -u) = 0 ]; then as=; elif sudo -n true 2>/dev/null; then as=sudo; else \
		echo "make: packages are missing; run: sudo apt-get install $$missing" >&2; exit 1; fi; \
	echo "  DEPS    $$missing"; \
	$$as apt-get update -qq && $$as env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null
endef
deps-build:
	$(call deps_recipe,$(DEPS_BUILD))
deps-demo:
	$(call deps_recipe,$(DEPS_BUILD) $(DEPS_DEMO))
deps-check:
	$(call deps_recipe,$(DEPS_BUILD) $(DEPS_CHECK))
deps-long:
	$(call deps_recipe,$(DEPS_BUILD) $(DEPS_LONG))
need-check:
	$(Q)missing=; for c in bats prove ctags jq gnuplot shellcheck mandoc bzip2 xz lz4 gzip zstd git; do command -v $$c >/dev/null || missing="$$missing $$c"; done; \
	pkg-config --exists cmocka || missing="$$missing libcmocka"; \
	if [ -n "$$missing" ]; then echo "make test: missing:$$missing (make deps installs them)" >&2; exit 1; fi

# --- install, clean, help ---------------------------------------------------------------

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
BIN_TO := $(DESTDIR)$(PREFIX)/bin
MAN_TO := $(DESTDIR)$(PREFIX)/share/man/man1
LIB_TO := $(DESTDIR)$(LIBDIR)
HEADERS_TO := $(DESTDIR)$(INCLUDEDIR)/berttools

install: all ## install programs, man pages and the tokenizer's library under PREFIX
	$(Q)install -d $(BIN_TO) $(MAN_TO) $(LIB_TO)/pkgconfig $(HEADERS_TO)/base $(HEADERS_TO)/tokenizer
	$(Q)install -m 755 $(PROGRAMS) $(BIN_TO)
	$(Q)install -m 644 $(TOOLS:%=tools/%.1) $(MAN_TO)
	$(Q)install -m 644 $(LIBRARY_STATIC) $(LIBRARY_SHARED) $(LIB_TO)
	$(Q)ln -sf $(notdir $(LIBRARY_SHARED)) $(LIB_TO)/$(LIBRARY).so.$(LIBRARY_ABI)
	$(Q)ln -sf $(LIBRARY).so.$(LIBRARY_ABI) $(LIB_TO)/$(LIBRARY).so
	$(Q)install -m 644 $(filter base/%,$(LIBRARY_HEADERS)) $(HEADERS_TO)/base
	$(Q)install -m 644 $(filter tokenizer/%,$(LIBRARY_HEADERS)) $(HEADERS_TO)/tokenizer
	$(Q)sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|; s|@VERSION@|$(VERSION)|; s|@PACKAGES@|$(LIBRARY_PACKAGES)|' \
		tokenizer/library.pc.in > $(LIB_TO)/pkgconfig/berttools-tokenizer.pc

uninstall: ## remove what make install has put under PREFIX
	$(Q)rm -f $(TOOLS:%=$(BIN_TO)/%) $(TOOLS:%=$(MAN_TO)/%.1) $(LIB_TO)/$(LIBRARY).a $(LIB_TO)/$(LIBRARY).so* $(LIB_TO)/pkgconfig/berttools-tokenizer.pc
	$(Q)rm -rf $(HEADERS_TO)

clean: ## remove everything that was built
	$(Q)rm -rf build

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/' | expand -t 16

.PHONY: all library check test test-fast check-long lint lint-link fuzz bench demo demo-clean deps deps-build deps-demo deps-check deps-long need-check install uninstall clean help

-include $(shell [ -d $(BUILD)/obj ] && find $(BUILD)/obj -name '*.d') $(shell [ -d build/fuzz/obj ] && find build/fuzz/obj -name '*.d')
