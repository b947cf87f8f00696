# The demo: a raw Wikipedia dump and novels to verified shards. `make demo` calls it; by hand:
# make -f pipelines/demo/demo.mk BIN=build/release/bin [OUT=build/demo]
#
# Every target is a file or folder that its program makes whole or not at all, so an interrupted demo
# goes on where it was, and a finished one has nothing to do.

.DELETE_ON_ERROR:
.SUFFIXES:
SHELL := bash
BIN ?= build/release/bin
OUT ?= build/demo
HERE := $(dir $(lastword $(MAKEFILE_LIST)))
export PATH := $(abspath $(BIN)):$(PATH)
export OUT

RUN := @$(HERE)run
BOOKS := $(sort $(notdir $(wildcard $(HERE)data/*.txt.zst)))
DUMP := $(notdir $(wildcard $(HERE)data/*.xml.bz2))

all: $(OUT)/table.txt
	@echo "The demo's table is in $<; 'make demo-clean' removes all that it made."

$(OUT)/sources.list: $(HERE)sources.list
	@mkdir -p $(OUT)
	@sed 's|@DATA@|file://$(abspath $(HERE)data)|' $< > $@

# Downloads. bert-fetch keeps what is there and whole, so the stamp stands for all of them.
$(OUT)/raw/.complete: $(OUT)/sources.list
	$(RUN) fetch bert-fetch -C $(OUT)/raw --list $<
	@touch $@

$(OUT)/wiki.txt: $(OUT)/raw/.complete
	$(RUN) extract-wiki bert-extract --report $(OUT)/wiki-report.json -o $@ $(OUT)/raw/$(DUMP)

$(OUT)/books.txt: $(OUT)/raw/.complete
	$(RUN) extract-books bert-extract --from gutenberg --chapters -o $@ $(addprefix $(OUT)/raw/,$(BOOKS))

$(OUT)/sentences.txt: $(OUT)/wiki.txt $(OUT)/books.txt
	$(RUN) sentences bert-sentences -o $@ $^

$(OUT)/split/train.txt: $(OUT)/sentences.txt
	$(RUN) split bert-split --split heldout=0.02 -o $(OUT)/split $<

$(OUT)/vocab.txt: $(OUT)/split/train.txt
	$(RUN) vocab bert-vocab --size 8000 -o $@ $<

$(OUT)/train.tok: $(OUT)/vocab.txt $(OUT)/split/train.txt
	$(RUN) tokenize bert-tokenize --vocab $(OUT)/vocab.txt --to docs -o $@ $(OUT)/split/train.txt

$(OUT)/train/manifest.json: $(OUT)/train.tok
	$(RUN) shard bert-shard --vocab $(OUT)/vocab.txt --dupe-factor 5 --shards 4 -o $(OUT)/train $<

$(OUT)/heldout/manifest.json: $(OUT)/vocab.txt $(OUT)/split/train.txt
	$(RUN) shard-heldout bert-shard --vocab $(OUT)/vocab.txt --dupe-factor 1 --shards 1 -o $(OUT)/heldout $(OUT)/split/heldout.txt

$(OUT)/.verified: $(OUT)/train/manifest.json $(OUT)/heldout/manifest.json
	$(RUN) verify bert-verify $(OUT)/train $(OUT)/heldout
	@touch $@

$(OUT)/stat.json: $(OUT)/.verified
	$(RUN) stat bert-stat -o $@ $(OUT)/train

$(OUT)/table.txt: $(OUT)/stat.json
	@$(HERE)table.sh $(OUT) > $@
	@cat $@

.PHONY: all
