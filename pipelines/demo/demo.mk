# The demo: from a raw Wikipedia dump and novels to a pre-trained and fine-tuned BERT. `make demo` calls it;
# by hand: make -f pipelines/demo/demo.mk BIN=build/release/bin [OUT=build/demo]
#
# Every target is a file or folder that appears whole or not at all, and the training programs go on from
# their checkpoints, so an interrupted demo goes on where it was, and a finished one has nothing to do.

.DELETE_ON_ERROR:
.SUFFIXES:
SHELL := bash
BIN ?= build/release/bin
OUT ?= build/demo
HERE := $(dir $(lastword $(MAKEFILE_LIST)))
export PATH := $(abspath $(BIN)):$(PATH)
export OUT

# How long it trains: a BERT of two layers, in two minutes on two cores, and four fine-tunings of it in two more.
STEPS ?= 1500
EPOCHS ?= 3

LENGTH := --max-seq-length 256 --max-predictions-per-seq 40
PRETRAIN := --steps $(STEPS) --batch 16 --compat torch --learning-rate 2e-3 --warmup 0.05 --eval-every 150 --save-every 150 --keep 2
FINETUNE := --task classify --label Sentiment --max-seq-length 256 --epochs $(EPOCHS) --batch 8 --learning-rate 8e-4

RUN := @$(HERE)run
BOOKS := $(sort $(notdir $(wildcard $(HERE)data/*.txt.zst)))
DUMP := $(notdir $(wildcard $(HERE)data/*.xml.bz2))
REVIEWS := --train $(OUT)/raw/sentiment-train.tsv.zst --dev $(OUT)/raw/sentiment-dev.tsv.zst
MODEL := $(OUT)/model/checkpoint-$(STEPS)

all: $(OUT)/table.txt $(OUT)/pretraining.svg $(OUT)/finetuning.svg
	@echo "The demo's table is in $<; 'make demo-clean' removes all that it made."

$(OUT)/sources.list: $(HERE)sources.list
	@mkdir -p $(OUT)
	@sed 's|@DATA@|file://$(abspath $(HERE)data)|' $< > $@.tmp && mv $@.tmp $@

# --- text to shards -------------------------------------------------------------------

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
	$(RUN) shard bert-shard --vocab $(OUT)/vocab.txt $(LENGTH) --dupe-factor 5 --shards 4 -o $(OUT)/train $<

$(OUT)/heldout/manifest.json: $(OUT)/vocab.txt $(OUT)/split/train.txt
	$(RUN) shard-heldout bert-shard --vocab $(OUT)/vocab.txt $(LENGTH) --dupe-factor 1 --shards 1 -o $(OUT)/heldout $(OUT)/split/heldout.txt

$(OUT)/.verified: $(OUT)/train/manifest.json $(OUT)/heldout/manifest.json
	$(RUN) verify bert-verify $(OUT)/train $(OUT)/heldout
	@touch $@

$(OUT)/stat.json: $(OUT)/.verified
	$(RUN) stat bert-stat -o $@ $(OUT)/train

# --- a pre-trained and a fine-tuned model ------------------------------------------------

# What the loss is to be compared with.
$(OUT)/unigram.json: $(OUT)/train.tok $(OUT)/heldout/manifest.json
	@$(HERE)unigram.sh $(OUT)/vocab.txt $(OUT)/train.tok $(OUT)/heldout > $@.tmp && mv $@.tmp $@

# bert-train that is asked to stop saves and is content; the demo is not.
$(MODEL)/manifest.json: $(HERE)config.json $(OUT)/.verified
	$(RUN) pretrain bert-train --data $(OUT)/train --eval $(OUT)/heldout --config $< $(PRETRAIN) -o $(OUT)/model
	@[ -e $@ ] || { echo "The demo was stopped; 'make demo' goes on." >&2; exit 1; }

$(OUT)/sentiment/results.json: $(MODEL)/manifest.json
	$(RUN) finetune bert-finetune $(FINETUNE) --model $(MODEL) $(REVIEWS) --seeds 3 -o $(OUT)/sentiment >/dev/null

$(OUT)/sentiment-random/results.json: $(MODEL)/manifest.json
	$(RUN) finetune-random bert-finetune $(FINETUNE) --model $(MODEL) --random-weights $(REVIEWS) -o $(OUT)/sentiment-random >/dev/null

$(OUT)/predictions.tsv: $(HERE)opinions.tsv $(OUT)/sentiment/results.json
	$(RUN) predict bert-predict --task classify --model $(OUT)/sentiment -o $@ $<

# --- what came out -------------------------------------------------------------------------

$(OUT)/pretraining.svg: $(MODEL)/manifest.json $(OUT)/unigram.json
	@$(HERE)curves.sh pretraining $(OUT) > $@.tmp && mv $@.tmp $@

$(OUT)/finetuning.svg: $(OUT)/sentiment/results.json $(OUT)/sentiment-random/results.json
	@$(HERE)curves.sh finetuning $(OUT) > $@.tmp && mv $@.tmp $@

$(OUT)/table.txt: $(OUT)/stat.json $(OUT)/unigram.json $(OUT)/sentiment-random/results.json $(OUT)/predictions.tsv
	@$(HERE)table.sh $(OUT) > $@.tmp && mv $@.tmp $@
	@cat $@

.PHONY: all
