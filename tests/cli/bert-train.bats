# bert-train: runs that are the same however they were interrupted, checkpoints that are whole or not there, refusals.

load helpers

shards() {
	bert-shard --vocab "$DATA/man/vocab.txt" --shards 2 --max-seq-length 64 --max-predictions-per-seq 10 --dupe-factor 2 "$@" "$DATA/man/corpus.txt"
}

# train ARGUMENTS...: a model of 54,506 parameters for 12 steps of 4. With exec=exec it takes the place of this shell.
train() {
	$exec bert-train --data s --config "$DATA/man/config.json" --steps 12 --batch 4 --learning-rate 1e-3 --save-every 4 --threads 1 "$@"
}

# until_there PATH PID: waits for a file, as long as the process lives.
until_there() { while [ ! -e "$1" ] && kill -0 "$2" 2>/dev/null; do sleep 0.02; done; }

# flip FILE OFFSET: another byte there.
flip() {
	local byte
	byte=$(od -An -tu1 -j "$2" -N 1 "$1")
	printf "\\x$(printf %x $((byte ^ 64)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

no_leftovers() { [ -z "$(find "$1" -mindepth 1 -name '.*')" ]; }

@test "checkpoints, log and events; the loss falls" {
	shards -o s
	shards -o held --masking dynamic --dupe-factor 1
	train -o run --steps 60 --save-every 20 --keep 2 --log-every 5 --eval held --eval-every 30
	[ "$(ls run | grep -v events | tr '\n' ' ')" = "checkpoint-40 checkpoint-60 log.jsonl run.json " ]
	[ "$(ls run/checkpoint-60 | tr '\n' ' ')" = "config.json manifest.json model.safetensors moments-00000-of-00001.safetensors position.json tokenizer_config.json vocab.txt " ]
	cmp run/checkpoint-60/vocab.txt "$DATA/man/vocab.txt"
	[ "$(jq -s 'map(select(.data.average_loss)) | map(.step) | join(" ")' run/log.jsonl)" = '"5 10 15 20 25 30 35 40 45 50 55 60"' ]
	[ "$(jq -s 'map(select(.data.eval_loss)) | map(.step) | join(" ")' run/log.jsonl)" = '"30 60"' ]
	jq -es 'map(select(.data.average_loss)) | .[0].data.average_loss - .[-1].data.average_loss > 1' run/log.jsonl
	jq -es 'map(select(.data.average_loss))[0].data | (.masked_lm_loss + .next_sentence_loss - .average_loss | fabs) < 0.05 and
		.learning_rate > 0 and .grad_norm > 0 and .training_sequences_per_second > 0 and .masked_lm_accuracy >= 0 and .next_sentence_accuracy > 0' run/log.jsonl
	jq -es 'map(select(.data.eval_loss))[-1].data | .eval_masked_lm_loss > 0 and .eval_masked_lm_accuracy >= 0 and .eval_next_sentence_accuracy > 0' run/log.jsonl
	jq -es '.[-1] | .step == [] and .data.stopped == false and .data.steps == 60 and .data.e2e_train_time > 0' run/log.jsonl
	[ "$(ls run/events.out.tfevents.* | wc -l)" -eq 1 ]
	grep -aq training_sequences_per_second run/events.out.tfevents.*
}

@test "mapped shards make the same model; where no map can be had, they are read" {
	shards -o s --shards 5
	train -o read
	train -o mapped --mmap
	cmp read/checkpoint-12/model.safetensors mapped/checkpoint-12/model.safetensors
	# Of a file system that maps nothing.
	cat >no_map.c <<-'E'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <errno.h>
		#include <sys/mman.h>
		void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
		{
			void *(*other)(void *, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, "mmap64");

			if (fd >= 0 && (flags & MAP_TYPE) == MAP_SHARED && prot == PROT_READ)
				return errno = ENODEV, MAP_FAILED;
			return other(at, n, prot, flags, fd, offset);
		}
		void *mmap64(void *at, size_t n, int prot, int flags, int fd, off_t offset) { return mmap(at, n, prot, flags, fd, offset); }
	E
	[ "$CONFIG" != release ] || ! gcc -O1 -shared -fPIC -o no_map.so no_map.c -ldl || {
		LD_PRELOAD=$PWD/no_map.so train -o unmapped --mmap 2>err
		cmp read/checkpoint-12/model.safetensors unmapped/checkpoint-12/model.safetensors
		grep -E '^bert-train: .*of 5 openings of shards 5 could not map them; these were read' err
	}
}

@test "the model says how its tokens were made" {
	mkdir m
	cp "$DATA/man/vocab.txt" m
	echo '{"do_lower_case": true, "strip_accents": false, "tokenize_chinese_chars": false, "never_split": ["Alice", "a.m."], "segmenter": "cat"}' >m/tokenizer_config.json
	bert-tokenize --model m --segmenter cat --to docs "$DATA/man/corpus.txt" |
		bert-shard --model m -o s --shards 2 --max-seq-length 64 --max-predictions-per-seq 10 --dupe-factor 2
	train -o run --steps 1 --save-every 1
	jq -S 'del(.model_max_length, .tokenizer_class)' run/checkpoint-1/tokenizer_config.json | diff <(jq -S . m/tokenizer_config.json) -
	bert-tokenize --model m --segmenter '' "$DATA/man/corpus.txt" >want
	bert-tokenize --model run/checkpoint-1 --segmenter cat "$DATA/man/corpus.txt" | cmp want -
	not cmp -s want <(bert-tokenize --model run/checkpoint-1 --segmenter cat --never-split x "$DATA/man/corpus.txt")
}

@test "the model gets the vocabulary that its shards were made with, or none" {
	shards -o s
	cp s/vocab.txt good.txt
	tac good.txt >s/vocab.txt
	exits 1 train -o run --steps 1
	says "the shards of 's' were made with another vocabulary than 's/vocab.txt'"
	[ "${#lines[@]}" -eq 1 ]
	exits 1 train --dry-run
	says "were made with another vocabulary"
	[ ! -e run ]
	rm s/vocab.txt
	exits 0 train -o bare --steps 1
	says "no vocab.txt is beside the shards of 's': the checkpoints will have none"
	[ ! -e bare/checkpoint-1/vocab.txt ]
	mkdir t
	cp s/*-00000-of-*.shard t
	cp good.txt t/vocab.txt
	exits 0 bert-train --data s --data t/*.shard --config "$DATA/man/config.json" --steps 1 --batch 4 -o beside
	[ -z "$output" ]
	cmp good.txt beside/checkpoint-1/vocab.txt
	rm bare/checkpoint-1/manifest.json
	cp good.txt s/vocab.txt
	exits 0 bert-train --data s --init bare/checkpoint-1 --steps 1 --batch 4 -o next
	[ -z "$output" ]
	cmp good.txt next/checkpoint-1/vocab.txt
}

# cut SWITCH...: shards s of token documents made with these.
cut() {
	rm -rf s
	bert-tokenize --vocab "$DATA/man/vocab.txt" "$@" --to docs "$DATA/man/corpus.txt" |
		bert-shard --vocab "$DATA/man/vocab.txt" -o s --shards 1 --max-seq-length 64 --max-predictions-per-seq 10 --dupe-factor 2
}

@test "the model says whose ids, the longest word and Unicode, where they are not google's own" {
	cut
	train -o plain --steps 1
	jq -e '(has("max_input_chars_per_word") or has("unicode_version")) | not' plain/checkpoint-1/tokenizer_config.json
	jq -e '.tokenizer_compat == null' plain/checkpoint-1/config.json
	cut --max-word 7 --unicode 15.0
	train -o run --steps 1
	jq -e '.max_input_chars_per_word == 7 and .unicode_version == "15.0"' run/checkpoint-1/tokenizer_config.json
	jq -e '.tokenizer_compat == null' run/checkpoint-1/config.json
	bert-tokenize --vocab "$DATA/man/vocab.txt" --max-word 7 --unicode 15.0 "$DATA/man/corpus.txt" >want
	bert-tokenize --model run/checkpoint-1 "$DATA/man/corpus.txt" | cmp want -
	cut --compat hf
	train -o hf --steps 1 --decay constant
	jq -e '(has("max_input_chars_per_word") or has("unicode_version")) | not' hf/checkpoint-1/tokenizer_config.json
	jq -e '.tokenizer_compat == "hf"' hf/checkpoint-1/config.json
	train -o hf --steps 2 --decay constant		# which goes on with that run
	cmp hf/checkpoint-1/config.json hf/checkpoint-2/config.json
	cut --compat hf --max-word 200
	train -o long --steps 1
	jq -e '.max_input_chars_per_word == 200' long/checkpoint-1/tokenizer_config.json
}

@test "a model to start from gives way to the shards in these" {
	cut --max-word 7 --unicode 15.0
	train -o run --steps 1
	sed -i 's/"model_max_length": [0-9]*/"model_max_length": 1000000000000000019884624838656, "name": "x"/' run/checkpoint-1/tokenizer_config.json
	bert-train --data s --init run/checkpoint-1 -o same --steps 1 --batch 4
	cmp run/checkpoint-1/tokenizer_config.json same/checkpoint-1/tokenizer_config.json
	rm -rf s
	bert-tokenize --model run/checkpoint-1 --compat hf --max-word 9 --to docs "$DATA/man/corpus.txt" |
		bert-shard --model run/checkpoint-1 -o s --shards 1 --max-seq-length 64 --max-predictions-per-seq 10 --dupe-factor 2
	bert-train --data s --init run/checkpoint-1 -o hf --steps 1 --batch 4
	jq -e '.max_input_chars_per_word == 9 and .unicode_version == null and .name == "x" and .model_max_length >= 1e30' hf/checkpoint-1/tokenizer_config.json
	jq -e '.tokenizer_compat == "hf"' hf/checkpoint-1/config.json
	cut
	bert-train --data s --init hf/checkpoint-1 -o back --steps 1 --batch 4
	jq -e '.max_input_chars_per_word == null and .unicode_version == null and .name == "x"' back/checkpoint-1/tokenizer_config.json
	jq -e '.tokenizer_compat == null' back/checkpoint-1/config.json
}

@test "a finished run is left alone" {
	shards -o s
	train -o run
	find run -type f -exec md5sum {} + | sort >before
	train -o run
	cmp before <(find run -type f -exec md5sum {} + | sort)
}

@test "stopped after every step, the result is the same, byte for byte; another seed's is not" {
	shards -o s --masking dynamic --dupe-factor 1
	train -o straight
	for _ in $(seq 12); do train -o pieces --time-budget 0.000001s; done
	diff -r straight/checkpoint-12 pieces/checkpoint-12
	jq -es 'map(select(.data.average_loss)) | map(.step) == [range(1; 13)]' pieces/log.jsonl
	train -o other --seed 2
	not cmp -s straight/checkpoint-12/model.safetensors other/checkpoint-12/model.safetensors
	cmp straight/checkpoint-12/config.json other/checkpoint-12/config.json
}

@test "LAMB: the same however it was interrupted, another result than AdamW's, and the run's facts say so" {
	shards -o s
	for compat in google torch; do
		train -o straight-$compat --optimizer lamb --compat $compat --decay poly --power 0.5
		for _ in $(seq 12); do train -o pieces-$compat --optimizer lamb --compat $compat --decay poly --power 0.5 --time-budget 0.000001s; done
		diff -r straight-$compat/checkpoint-12 pieces-$compat/checkpoint-12
		jq -e '.optimizer == "lamb"' straight-$compat/run.json
	done
	not cmp -s straight-google/checkpoint-12/model.safetensors straight-torch/checkpoint-12/model.safetensors
	train -o adamw --decay poly --power 0.5
	not cmp -s straight-google/checkpoint-12/model.safetensors adamw/checkpoint-12/model.safetensors
	exits 1 train -o adamw --decay poly --power 0.5 --optimizer lamb
	says "'adamw' holds another run: its optimizer is \"adamw\", not \"lamb\""
	train -o long --optimizer lamb --steps 60 --log-every 20 --learning-rate 1e-2
	jq -es 'map(select(.data.average_loss)) | .[0].data.average_loss > .[-1].data.average_loss + 0.1' long/log.jsonl
}

@test "killed, it goes on from its last checkpoint, to the same bytes" {
	shards -o s
	train -o straight --steps 40
	exec=exec train -o run --steps 40 &
	until_there run/checkpoint-8 $!
	kill -9 $! 2>/dev/null || true
	wait $! || true
	train -o run --steps 40
	diff -r straight/checkpoint-40 run/checkpoint-40
	no_leftovers run
	jq -es 'map(select(.data.average_loss)) | map(.step) | . == (. | unique)' run/log.jsonl
}

@test "killed at any byte of a checkpoint" {
	shards -o s
	train -o straight
	for k in 0 4 100 217 218 300 426; do
		rm -rf run
		train -o run --time-budget 0.000001s	# a whole checkpoint of step 1
		# The limit of a file's size ends the program by a signal at byte 1024 k of any file.
		(ulimit -f $k && exec=exec train -q -o run) || true
		train -o run 2>err
		[ ! -s err ]
		diff -r straight/checkpoint-12 run/checkpoint-12
		no_leftovers run
	done
}

@test "a full disk: the last checkpoint stands, and the line says so" {
	shards -o s
	train -o straight
	train -o run --time-budget 0.000001s
	cp -r run/checkpoint-1 before
	limited() { (trap '' XFSZ && ulimit -f 300 && exec=exec train -o run); }
	exits 1 limited
	says "checkpoint-1 stands as it was: checkpoint of step 4: cannot write"
	[ "${#lines[@]}" -eq 1 ]
	diff -r before run/checkpoint-1
	[ "$(ls -d run/checkpoint-*)" = run/checkpoint-1 ]
	no_leftovers run
	train -o run
	diff -r straight/checkpoint-12 run/checkpoint-12
}

@test "a damaged checkpoint is passed over, loudly" {
	shards -o s
	train -o straight
	for f in model.safetensors moments-00000-of-00001.safetensors position.json config.json vocab.txt manifest.json; do
		rm -rf run
		cp -r straight run
		flip run/checkpoint-12/$f $(($(stat -c %s run/checkpoint-12/$f) / 2))
		train -o run 2>err
		grep -q "^bert-train: checkpoint-12 is damaged, trying the one before: .*'run/checkpoint-12/" err
		diff -r straight/checkpoint-12 run/checkpoint-12
	done
	# It does not outlive the next one, whatever their numbers: with --keep 1 the good one stays.
	rm -rf run
	cp -r straight run
	flip run/checkpoint-12/model.safetensors 1000
	train -q -o run --keep 1 --save-every 3 --time-budget 0.000001s
	[ "$(ls -d run/checkpoint-*)" = run/checkpoint-9 ]
	train -o run
	rm run/checkpoint-*/model.safetensors
	exits 3 train -o run
	says "none of the checkpoints in 'run' is whole"
}

@test "SIGTERM, SIGINT, SIGUSR1: saves, says so in the log, exits 0, and goes on" {
	shards -o s
	for sig in TERM INT USR1; do
		rm -rf run
		exec="exec env --default-signal=INT" train --steps 1000000 --log-every 1 --save-every 0 -o run &
		while ! grep -q average_loss run/log.jsonl 2>/dev/null && kill -0 $!; do sleep 0.02; done
		kill -$sig $!
		wait $!
		jq -es ".[-1].data | .stopped == true and .reason == \"SIG$sig\"" run/log.jsonl
		[ "$(ls -d run/checkpoint-*)" = "run/checkpoint-$(jq -s '.[-1].data.steps' run/log.jsonl)" ]
	done
}

@test "a run's folder belongs to it" {
	shards -o s
	train -o run
	exits 1 train -o run --batch 8
	says "'run' holds another run: its batch is 4, not 8; give another folder"
	exits 1 train -o run --seed 3
	says "its seed is 12345, not 3"
	shards -o s2 --seed 5
	exits 1 train -o run --data s2
	says "its data is"
	train -o run --micro-batch 1 --keep 9 --log-every 1
	mkdir foreign
	echo '{}' >foreign/log.jsonl
	exits 1 train -o foreign
	says "'foreign' holds a run that was not made by this program"
}

@test "what does not fit is refused in one line" {
	shards -o s
	jq '.max_position_embeddings = 32' "$DATA/man/config.json" >short.json
	exits 1 train -o run --config short.json
	says "has max_seq_length 64, at most 32 fits"
	jq '.vocab_size = 500' "$DATA/man/config.json" >small.json
	exits 1 train -o run --config small.json
	says "a vocabulary of 1000, at most 500 fits"
	jq '.type_vocab_size = 1' "$DATA/man/config.json" >types.json
	exits 1 train -o run --config types.json
	says "has pairs of segments"
	jq '.num_attention_heads = 3' "$DATA/man/config.json" >heads.json
	exits 3 train -o run --config heads.json
	[ "${#lines[@]}" -eq 1 ]
	[ ! -e run ]
	train -o run
	sed 's/^alice$/alyce/' "$DATA/man/vocab.txt" >run/checkpoint-12/vocab.txt
	exits 1 bert-train --data s --init run/checkpoint-12 -o next --steps 1
	says "the shards of 's' were made with another vocabulary than 'run/checkpoint-12/vocab.txt'"
	cp "$DATA/man/vocab.txt" run/checkpoint-12/vocab.txt
	local config=run/checkpoint-12/tokenizer_config.json change
	cp "$config" said.json
	for change in strip_accents:.strip_accents=false cased:.do_lower_case=false cjk:.tokenize_chinese_chars=false \
		'never_split:.never_split=["C++"]' 'segmenter:.segmenter="cat"'; do
		jq "${change#*:}" said.json >"$config"
		exits 1 bert-train --data s --init run/checkpoint-12 -o next --steps 1
		says "the shards of 's' were made otherwise than tokenizer_config.json of 'run/checkpoint-12' says: ${change%%:*}"
	done
	rm "$config"
	bert-train --data s --init run/checkpoint-12 -o without --steps 1 --batch 4
	exits 1 train -o next --data nowhere
	says nowhere
	exits 1 train -o next --backend cuda
	says "not in this build"
}

@test "a config with impossible sizes" {
	shards -o s
	for change in '.hidden_size = 0' '.hidden_size = -64' '.hidden_size = 1e30' '.hidden_size = "64"' '.hidden_size = 65' '.num_hidden_layers = 100000' \
		'.vocab_size = 99999999999' '.max_position_embeddings = 70000' '.type_vocab_size = 0' '.intermediate_size = 0' '.hidden_dropout_prob = 1' \
		'.layer_norm_eps = 0' '.initializer_range = -1' '.hidden_act = "swish"' 'del(.hidden_size)' '[.]' '.pruned_heads = {"0": [0, 1, 2, 3]}'; do
		jq "$change" "$DATA/man/config.json" >c.json
		exits 3 train -o run --config c.json
		[ "${#lines[@]}" -eq 1 ]
		says "cannot use 'c.json': "
	done
	head -c 100 "$DATA/man/config.json" >c.json
	exits 3 train -o run --config c.json
	says "cannot read 'c.json': line "
	[ ! -e run ]
	# Sizes that are possible, and too large for any memory: one line, and the folder is nobody's.
	jq '.hidden_size = 1048576 | .intermediate_size = 1048576 | .num_hidden_layers = 4096' "$DATA/man/config.json" >c.json
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:allocator_may_return_null=1 TSAN_OPTIONS=${TSAN_OPTIONS:-}:allocator_may_return_null=1 \
		exits 1 train -o run --config c.json
	says "bert-train: out of memory: "
	train -o run
}

@test "a model to start from that is cut, overlaps or lies about sizes" {
	shards -o s
	train -o run
	cp -r run/checkpoint-12 start
	bad_safetensors start/model.safetensors bert-train --data s --init start -o next --steps 1 --batch 4 --threads 1
	[ -z "$(ls -d next/checkpoint-* 2>/dev/null)" ]
	rm start/model.safetensors
	exits 1 bert-train --data s --init start -o next --steps 1
	says "start/model.safetensors"
}

@test "held-out shards of another vocabulary, or longer than the positions" {
	shards -o s
	head -n 900 "$DATA/man/vocab.txt" >v.txt
	bert-shard --vocab v.txt --shards 1 --max-seq-length 64 -o other "$DATA/man/corpus.txt"
	exits 1 train -o run --eval other
	says "the shards of 's' and 'other' were made with different vocabularies or rules"
	bert-shard --vocab "$DATA/man/vocab.txt" --shards 1 --max-seq-length 512 --max-predictions-per-seq 77 -o long "$DATA/man/corpus.txt"
	exits 1 train -o run --eval long
	says "has max_seq_length 512, at most "
	exits 1 train -o run --eval nowhere
	says nowhere
	[ ! -e run ]
}

@test "held-out shards whose label means something else" {
	shards -o s
	shards -o swapped --pairs sop
	shards -o plain --pairs none
	exits 1 train -o run --eval swapped
	says "the shards of 's' and 'swapped' have different kinds of pairs"
	[ ! -e run ]
	exits 1 bert-train --data plain --config "$DATA/man/config.json" --steps 2 --batch 4 --eval s -o run
	says "different kinds of pairs"
	train -o run --steps 2 --eval plain
	jq -es 'map(select(.data.eval_loss))[-1].data | .eval_masked_lm_loss > 0 and .eval_next_sentence_loss == null' run/log.jsonl
}

@test "a held-out shard that is damaged: what was trained is saved all the same" {
	shards -o s
	train -o straight
	cp -r s cut
	flip cut/shard-00001-of-00002.shard $(($(stat -c %s cut/shard-00001-of-00002.shard) / 2))
	exits 3 train -o run --eval cut --save-every 0
	says "evaluation at step 12: 'cut/shard-00001-of-00002.shard'"
	diff -r straight/checkpoint-12 run/checkpoint-12
	train -o run --eval cut
}

@test "a shard that is damaged is named" {
	shards -o s
	f=$(ls s/*.shard | head -1)
	flip "$f" $(($(stat -c %s "$f") / 2))
	exits 3 train -o run
	says "$f"
}

@test "a loss that is no number stops the run, naming the step" {
	shards -o s
	train -o run
	cp -r run/checkpoint-12 sick
	printf '\x00\x00\xc0\x7f' | dd of=sick/model.safetensors bs=1 seek=$(($(stat -c %s sick/model.safetensors) - 4)) conv=notrunc status=none
	exits 1 bert-train --data s --init sick -o next --steps 3
	says "step 1: the loss is nan"
	says "there is no checkpoint yet"
	[ -z "$(ls -d next/checkpoint-* 2>/dev/null)" ]
}

@test "from another model: weights go on, the optimizer starts new" {
	shards -o s
	train -o run
	bert-train --data s --init run/checkpoint-12 -o next --steps 3 --batch 4 --compat torch --decay constant --warmup 0 --learning-rate 1e-4 --log-every 1 --threads 1
	jq -es 'map(select(.data.average_loss)) | map(.data.learning_rate) == [1e-4, 1e-4, 1e-4] and .[0].data.average_loss < 7.5' next/log.jsonl
	# Without decay the number of steps decides nothing, so a run can be made longer.
	bert-train --data s --init run/checkpoint-12 -o next --steps 4 --batch 4 --compat torch --decay constant --warmup 0 --learning-rate 1e-4 --log-every 1 --threads 1
	[ -e next/checkpoint-4 ]
}

@test "schedules" {
	shards -o s
	rates() { jq -cs 'map(select(.data.average_loss) | .data.learning_rate * 1e6 | round)' "$1/log.jsonl"; }
	train -o a --steps 4 --warmup 2 --log-every 1
	[ "$(rates a)" = "[0,500,500,250]" ]
	train -o b --steps 4 --warmup 0.5 --log-every 1 --compat torch
	[ "$(rates b)" = "[500,1000,500,0]" ]
	train -o c --steps 4 --warmup 0 --log-every 1 --decay poly --power 2
	[ "$(rates c)" = "[1000,563,250,63]" ]
	train -o d --steps 4 --warmup 0 --log-every 1 --decay cosine
	[ "$(rates d)" = "[1000,854,500,146]" ]
	train -o e --steps 4 --warmup 0 --log-every 1 --decay cosine --compat torch
	[ "$(rates e)" = "[854,500,146,0]" ]
	train -o f --steps 4 --warmup 2 --log-every 1 --decay poly --power 0.5 --compat torch --optimizer lamb
	[ "$(rates f)" = "[500,707,500,0]" ]
}

@test "dry run: one JSON object, and no folder" {
	shards -o s
	train -o run --dry-run >plan
	[ ! -e run ]
	jq -e '.parameters == 54506 and .weights_bytes >= 4 * .parameters and .activations_bytes > 0 and .flops_per_step > 0 and .steps == 12' plan
	jq -e ".instances_per_epoch == $(bert-stat s | jq .instances) and (.epochs * .instances_per_epoch - 48 | fabs) < 0.01" plan
}

# set_of NAME OPTIONS...: another corpus of the same vocabulary, one shard.
set_of() {
	local name=$1
	shift
	bert-shard --vocab "$DATA/man/vocab.txt" --shards 1 --max-seq-length 64 --max-predictions-per-seq 10 "$@" -o "$name" "$DATA/man/corpus.txt"
}

@test "sets by weight: an epoch has what they say, run.json names them, and stopping changes nothing" {
	shards -o s
	set_of short --max-seq-length 32 --max-predictions-per-seq 5 --masking dynamic
	a=$(bert-stat s | jq .instances)
	b=$(bert-stat short | jq .instances)
	train --data short:2 -o run --dry-run >plan
	jq -e ".instances_per_epoch == $a + 2 * $b" plan
	train --data short:0.25 -o run --dry-run >plan
	jq -e ".instances_per_epoch == $a + ($b / 4 | round)" plan
	# More than an epoch of the smaller share, in one go and in twelve.
	mix() { train --data short/:0.25 --batch 32 "$@"; }
	mix -o straight
	jq -e ".data | map([.name, .weight, .instances]) == [[\"s\", 1, $a], [\"short\", 0.25, $b]]" straight/run.json
	jq -e '.data | map(.sum | length) == [16, 16]' straight/run.json
	for _ in $(seq 12); do mix -o pieces --time-budget 0.000001s; done
	diff -r straight/checkpoint-12 pieces/checkpoint-12
	cmp straight/run.json pieces/run.json
	cmp straight/checkpoint-12/vocab.txt "$DATA/man/vocab.txt"
	exits 1 train --data short:0.5 --batch 32 -o straight
	says "'straight' holds another run: its data is"
	train --batch 32 -o alone
	not cmp -s straight/checkpoint-12/model.safetensors alone/checkpoint-12/model.safetensors
}

@test "sets by an exponent of their sizes: run.json says so, and stopping changes nothing" {
	shards -o s
	set_of short --max-seq-length 32 --max-predictions-per-seq 5 --masking dynamic
	a=$(bert-stat s | jq .instances)
	b=$(bert-stat short | jq .instances)
	shares() { train --data short "$@" --dry-run -o run | jq -c '.data | map([.name, .instances, .instances_per_epoch])'; }
	[ "$(shares)" = "[[\"s\",$a,$a],[\"short\",$b,$b]]" ]
	[ "$(shares --data-exponent 1)" = "$(shares)" ]
	[ "$(shares --data-exponent 0 | jq -c '.[0][2] - .[1][2] | fabs <= 1')" = true ]
	shares --data-exponent 0.5 >flat
	jq -e "(.[1][2] / .[0][2] - ($b / $a | sqrt) | fabs) < 0.01 and (.[0][2] + .[1][2] - $a - $b | fabs) <= 1" flat
	mix() { train --data short --data-exponent 0.5 --batch 32 "$@"; }
	mix -o straight
	[ "$(jq .data_exponent straight/run.json)" = 0.5 ]
	for _ in $(seq 12); do mix -o pieces --time-budget 0.000001s; done
	diff -r straight/checkpoint-12 pieces/checkpoint-12
	exits 1 train --data short --data-exponent 0.6 --batch 32 -o straight
	says "'straight' holds another run: its "
	exits 1 train --data short --batch 32 -o straight
	exits 2 train --data short --data-exponent 1.1 -o run
	exits 2 train --data short --data-exponent x -o run
	exits 2 train --data-exponent 0.5 -o run
	says "--data-exponent goes with several --data"
	exits 1 train --data short:1000 --data-exponent 0 -o run
	says "an epoch would have all of 'short'"
	[ ! -e run ]
}

@test "several held-out sets: each by itself, and all together" {
	shards -o s
	set_of short --max-seq-length 32 --max-predictions-per-seq 5 --masking dynamic
	train -o both --eval s --eval short/ --eval-every 6
	train -o first --eval s --eval-every 6
	train -o second --eval short --eval-every 6
	diff -r both/checkpoint-12 first/checkpoint-12
	of() { jq -s "map(.data | select(.eval_loss)) | $2" "$1/log.jsonl"; }
	[ "$(of both length)" = 2 ]
	jq -es '(.[0] | length) == 2 and all(range(0; 2) as $k | [.[0][$k], .[1][$k], .[2][$k]]; . as [$both, $a, $b] |
		($both["eval_s/loss"] - $a.eval_loss | fabs) < 1e-5 and ($both["eval_short/loss"] - $b.eval_loss | fabs) < 1e-5 and
		($both["eval_short/masked_lm_loss"] - $b.eval_masked_lm_loss | fabs) < 1e-5 and
		$both["eval_s/instances"] == $a.eval_instances and $both["eval_short/instances"] == $b.eval_instances and
		$both.eval_instances == $a.eval_instances + $b.eval_instances and
		(($both.eval_next_sentence_loss * $both.eval_instances - $a.eval_next_sentence_loss * $a.eval_instances
			- $b.eval_next_sentence_loss * $b.eval_instances) | fabs) < 1e-2)' <(of both .) <(of first .) <(of second .)
	[ "$(of first 'map(keys[] | select(contains("/"))) | length')" = 0 ]
	grep -q 'eval_short/loss' both/events.out.tfevents.*
	train -o few --eval s --eval short --eval-instances 7
	[ "$(of few '.[0] | [.["eval_s/instances"], .["eval_short/instances"], .eval_instances]' | jq -c .)" = "[7,7,14]" ]
	mkdir other
	cp -r short other/s
	exits 1 train -o none --eval s --eval other/s
	says "'s' and 'other/s' have one name"
	exits 1 train -o none --eval s --eval nowhere
	set_of swapped --pairs sop
	exits 1 train -o none --eval s --eval swapped
	says "different kinds of pairs"
	[ ! -e none ]
}

@test "one set of weight 1 is that set; with another weight it is not that run" {
	shards -o s
	train -o run
	bert-train --data s:1 --config "$DATA/man/config.json" --steps 12 --batch 4 --learning-rate 1e-3 --save-every 4 --threads 1 -o same
	diff -r run/checkpoint-12 same/checkpoint-12
	cmp run/run.json same/run.json
	jq -e '.data | type == "string"' run/run.json
	exits 1 bert-train --data s:2 --config "$DATA/man/config.json" --steps 12 --batch 4 --learning-rate 1e-3 --threads 1 -o run
	says "'run' holds another run: its data is"
	mv s s:2
	bert-train --data s:2 --config "$DATA/man/config.json" --steps 12 --batch 4 --learning-rate 1e-3 --save-every 4 --threads 1 -o named
	cmp run/run.json named/run.json
}

@test "sets that do not go together are refused" {
	shards -o s
	head -n 900 "$DATA/man/vocab.txt" >v.txt
	bert-shard --vocab v.txt --shards 1 --max-seq-length 64 -o other "$DATA/man/corpus.txt"
	exits 1 train --data other -o run
	says "the shards of 's' and 'other' were made with different vocabularies or rules"
	set_of swapped --pairs sop
	exits 1 train --data swapped -o run
	says "the shards of 's' and 'swapped' have different kinds of pairs"
	set_of long --max-seq-length 512
	exits 1 train --data long:2 -o run
	says "'long' has max_seq_length 512, at most "
	exits 1 train --data s:2 -o run
	says "'s' is given twice"
	ln -s s link
	for same in s/ ./s "$PWD/s" link s/*.shard link/*.shard; do
		exits 1 train --data "$same" -o run
		says "'$same' is given twice"
	done
	exits 1 train --data nowhere:2 -o run
	says "nowhere"
	bert-shard --vocab "$DATA/man/vocab.txt" --shards 1 --max-seq-length 64 -o t "$DATA/man/corpus.txt"
	exits 1 train --data t:0.000001 -o run
	says "no epoch has any of them"
	for w in 0 -1 x nan 1001 ''; do
		exits 2 train --data "t:$w" -o run
		says "a weight is a number above 0"
	done
	[ ! -e run ]
}

@test "usage" {
	exits 2 bert-train --config c -o run
	says "no shards"
	exits 2 bert-train --data s -o run
	says "either --config FILE"
	exits 2 bert-train --data s --config c --init d -o run
	exits 2 bert-train --data s --config c
	says "no output"
	exits 2 bert-train --data s --config c -o run --warmup 1.5
	says "--warmup takes"
	exits 2 bert-train --data s --config c -o run --time-budget 3w
	says "--time-budget takes"
	exits 2 bert-train --data s --config c -o run --eval-every 5
	says "needs --eval DIR"
}

@test "masks of dynamic shards may be chosen: another run, the same however it was interrupted; static ones may not" {
	shards -o s --masking dynamic --dupe-factor 1
	train -o plain
	for c in "--masked-lm-prob 0.4" "--whole-word-mask" "--mask-spans span" "--mask-replace-prob 0.5 --random-replace-prob 0.5" \
		"--masked-lm-prob 0.3 --max-predictions-per-seq 4 --whole-word-mask --word-draws"; do
		rm -rf straight pieces
		# shellcheck disable=SC2086
		train $c -o straight
		not cmp -s plain/checkpoint-12/model.safetensors straight/checkpoint-12/model.safetensors
		for _ in 1 2 3; do
			# shellcheck disable=SC2086
			train $c -o pieces --time-budget 0.000001s
		done
		# shellcheck disable=SC2086
		train $c -o pieces
		diff -r straight/checkpoint-12 pieces/checkpoint-12
	done
	jq -e '.masked_lm_prob == 0.3 and .max_predictions_per_seq == 4 and .whole_word_mask and .word_draws and (has("mask_spans") | not)' straight/run.json
	exits 1 train -o straight
	says "'straight' holds another run: its masked_lm_prob is 0.3, not nothing"
	exits 1 train --masked-lm-prob 0.4 -o plain
	says "'plain' holds another run: its masked_lm_prob is nothing, not 0.4"
	# more predictions are more work
	one=$(bert-train --data s --config "$DATA/man/config.json" --dry-run | jq .flops_per_step)
	two=$(bert-train --data s --config "$DATA/man/config.json" --dry-run --masked-lm-prob 0.3 | jq .flops_per_step)
	jq -ne "$two > $one"
	exits 2 train --mask-replace-prob 0.95 -o out
	says "are more than 1 together"
	exits 2 train --max-predictions-per-seq 65 -o out
	says "65 masks are more than the 64 tokens of an instance"
	exits 2 train --whole-word-mask=false --mask-spans ngram -o out
	shards -o static
	for c in "--data static --masked-lm-prob 0.15" "--data static --word-draws=false" "--data s --data static --mask-spans none"; do
		# shellcheck disable=SC2086
		exits 1 bert-train $c --config "$DATA/man/config.json" --steps 1 -o out
		says "cannot use the shards: 'static': its masks are static: they were drawn when it was made, and cannot be chosen"
	done
	[ ! -e out ]
	train -o held --masked-lm-prob 0.3 --eval static		# held-out shards keep their own
}

@test "a folder that lacks shards is refused at once, a copy in another's place when it is read" {
	shards -o s
	cp -r s t
	rm t/shard-00001-of-00002.shard
	exits 1 train --data t -o run
	says "'t' is not complete: 1 of its 2 shards is missing or of another size, number 1"
	[ ! -e run ]
	rm t/manifest.json
	cp s/shard-00000-of-00002.shard t/shard-00001-of-00002.shard
	exits 3 train --data t -o run
	says "in the place of shard 1 of 2"
	bert-shard --vocab "$DATA/man/vocab.txt" --shards 2 --max-seq-length 48 --max-predictions-per-seq 10 -o u "$DATA/man/corpus.txt"
	cp s/manifest.json u
	exits 3 train --data u -o run
	says "'u' is not complete"
}

@test "a run that another order of instances began is not gone on with, and told how to" {
	shards -o s
	train -o run --save-every 4 --keep 1 --decay constant --warmup 1
	[ "$(jq .order run/run.json)" = 2 ]
	cp run/run.json good
	for change in '/"order"/d' 's/"order": 2/"order": 3/'; do
		sed "$change" good >run/run.json
		not cmp -s good run/run.json
		exits 1 train -o run --steps 16 --decay constant --warmup 1
		says "'run' was begun by another version of this program, which took the instances in another order: "
		says "give another folder, and --init run/checkpoint-12"
		[ "${#lines[@]}" -eq 1 ]
		[ "$(ls run | grep checkpoint)" = checkpoint-12 ]
	done
	sed '/"order"/d; s/"batch": 4/"batch": 8/' good >run/run.json
	exits 1 train -o run --steps 16 --decay constant --warmup 1
	says "its batch is 8, not 4"
	exits 0 bert-train --data s --init run/checkpoint-12 --steps 2 --batch 4 --threads 1 -o more
	cp good run/run.json
	exits 0 train -o run --steps 16 --decay constant --warmup 1
	# A shard by itself whose blocks make the same runs is in the order of before.
	rm -r run more
	shards -o whole --shards 1 --max-seq-length 128 --max-predictions-per-seq 20
	jq '.max_position_embeddings = 128' "$DATA/man/config.json" >long.json
	longer() { bert-train --data "$data" --config long.json --steps 4 --batch 4 --decay constant --warmup 1 --threads 1 "$@"; }
	data=whole longer -o run
	jq -e 'has("order") | not' run/run.json
	data=whole exits 0 longer -o run --steps 6
	data=whole:2 longer -o twice
	[ "$(jq .order twice/run.json)" = 2 ]
}
