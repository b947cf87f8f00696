# bert-finetune: seeds and their spread, runs that are the same however they were interrupted, what is frozen, refusals.

load helpers

# model [ARGUMENTS]: a model of 54,506 parameters in m.
model() {
	bert-shard --vocab "$DATA/man/vocab.txt" --shards 1 --max-seq-length 32 --max-predictions-per-seq 5 --dupe-factor 1 -o shards "$DATA/man/corpus.txt"
	bert-train --data shards --config "$DATA/man/config.json" --steps 3 --batch 4 --threads 1 --save-every 0 -o run "$@"
	mv run/checkpoint-3 m
	rm m/manifest.json m/position.json m/moments*
}

# tune ARGUMENTS...: 25 examples, 3 steps an epoch. With exec=exec it takes the place of this shell.
tune() {
	$exec bert-finetune --task classify --model m --train "$DATA/man/books.tsv" --batch 8 --max-seq-length 32 --learning-rate 3e-3 --threads 1 "$@"
}

table() { printf "$@"; }

# weights FILE: each tensor's name and sum, a line each.
weights() {
	local n header
	n=$(od -An -tu8 -N 8 "$1" | tr -d ' ')
	header=$(tail -c +9 "$1" | head -c "$n")
	jq -r 'del(.__metadata__) | to_entries[] | "\(.key) \(.value.data_offsets[0]) \(.value.data_offsets[1])"' <<<"$header" |
		while read -r name from to; do
			echo "$name $(tail -c +$((9 + n + from)) "$1" | head -c $((to - from)) | md5sum | cut -c1-32)"
		done | sort
}

@test "a model directory, metrics, predictions that agree with them" {
	model
	tune --dev "$DATA/man/books-dev.jsonl" --epochs 30 -o out >results.json
	cmp results.json out/results.json
	[ "$(ls out | tr '\n' ' ')" = "config.json model.safetensors results.json run.json seed-12345 tokenizer_config.json vocab.txt " ]
	[ "$(ls out/seed-12345 | grep -v events | tr '\n' ' ')" = "log.jsonl result.json run.json " ]
	jq -e '.task == "classify" and .measured_on == "dev" and .examples == 4 and .labels == ["alice", "other"] and .majority == 0.5 and
		.accuracy.mean == .seeds[0].accuracy and .accuracy.sd == 0 and .seeds[0].steps == 93 and .best_seed == 12345' results.json
	jq -e '.id2label == {"0": "alice", "1": "other"} and .architectures == ["BertForSequenceClassification"] and
		.problem_type == "single_label_classification" and .max_seq_length == 32' out/config.json
	jq -es 'map(select(.data.average_loss)) | .[0].data.average_loss > .[-1].data.average_loss + 0.5' out/seed-12345/log.jsonl
	jq -es 'map(select(.data.eval_loss)) | length == 31 and .[-1].step == 93' out/seed-12345/log.jsonl
	jq -es '.[-1].data.stopped == false' out/seed-12345/log.jsonl
	bert-predict --task classify --model out "$DATA/man/books-dev.jsonl" >predictions.tsv
	bert-eval --task classify "$DATA/man/books-dev.jsonl" predictions.tsv >eval.json
	jq -es '.[0].accuracy == .[1].seeds[0].accuracy and .[0].f1 == .[1].seeds[0].f1 and .[0].matthews_correlation == .[1].seeds[0].matthews_correlation' eval.json results.json
}

@test "without held-out examples the training file is measured, and was learnt" {
	model
	tune --epochs 60 -o out >results.json
	jq -e '.measured_on == "train" and .examples == 25 and .accuracy.mean > 0.9 and .degenerate == 0' results.json
}

@test "seeds: each its own run, mean, sd, smallest and largest of them, the best one's model" {
	model
	tune --dev "$DATA/man/books.tsv" --epochs 4 --seeds 3 --seed 7 -o out >results.json
	jq -e '[.seeds[].seed] == [7, 8, 9]' results.json
	jq -e '[.seeds[].accuracy] as $a | ($a | add / 3) as $m | ($a | map((. - $m) * (. - $m)) | add / 2 | sqrt) as $sd |
		(.accuracy.mean - $m | fabs) < 1e-9 and (.accuracy.sd - $sd | fabs) < 1e-9 and .accuracy.min == ($a | min) and .accuracy.max == ($a | max)' results.json
	jq -e '.best_seed as $b | (.seeds[] | select(.seed == $b) | .accuracy) == .accuracy.max' results.json
	best=$(jq .best_seed results.json)
	tune --dev "$DATA/man/books.tsv" --epochs 4 --seed "$best" -o alone >/dev/null
	cmp out/model.safetensors alone/model.safetensors
	tune --dev "$DATA/man/books.tsv" --epochs 4 --seed $((best == 7 ? 8 : 7)) -o other >/dev/null
	not cmp -s out/model.safetensors other/model.safetensors
}

@test "a finished run is left alone, and says the same again" {
	model
	tune --dev "$DATA/man/books-dev.jsonl" --seeds 2 -o out >first
	find out -type f ! -name results.json -printf '%p %T@ ' -exec md5sum {} \; | sort >before
	tune --dev "$DATA/man/books-dev.jsonl" --seeds 2 -o out >second
	cmp first second
	cmp before <(find out -type f ! -name results.json -printf '%p %T@ ' -exec md5sum {} \; | sort)
}

@test "stopped by a signal it saves and dies of it; killed or stopped, the result is the same, byte for byte" {
	model
	tune --dev "$DATA/man/books-dev.jsonl" --seeds 2 --epochs 400 --batch 4 -o straight >/dev/null
	exec=exec tune --dev "$DATA/man/books-dev.jsonl" --seeds 2 --epochs 400 --batch 4 -o go >said &
	while [ ! -e go/seed-12345/checkpoint-102 ] && kill -0 $! 2>/dev/null; do sleep 0.01; done
	kill -TERM $!
	rc=0
	wait $! || rc=$?
	[ "$rc" -eq 143 ]
	[ ! -s said ]
	[ ! -e go/results.json ]
	exec=exec tune --dev "$DATA/man/books-dev.jsonl" --seeds 2 --epochs 400 --batch 4 -o go >said &
	while [ ! -e go/seed-12346/log.jsonl ] && kill -0 $! 2>/dev/null; do sleep 0.01; done
	kill -9 $! 2>/dev/null || true
	wait $! || true
	tune --dev "$DATA/man/books-dev.jsonl" --seeds 2 --epochs 400 --batch 4 -o go >/dev/null
	diff -r -x 'events*' -x log.jsonl straight go
	for seed in 12345 12346; do
		jq -es 'map(select(.data.average_loss)) | map(.step) | . == (. | unique)' go/seed-$seed/log.jsonl
	done
}

@test "the same weights on any split into micro-batches" {
	model
	tune --epochs 3 --micro-batch 3 -o pieces >/dev/null
	tune --epochs 3 -o whole >/dev/null
	bert-predict --task classify --model whole "$DATA/man/books.tsv" | cut -f1-2 >a
	bert-predict --task classify --model pieces "$DATA/man/books.tsv" | cut -f1-2 >b
	cmp a b
}

@test "what is frozen stays as it was, to the bit; the rest does not" {
	model
	weights m/model.safetensors >before
	for part in embeddings 1 encoder; do
		tune --freeze $part --epochs 1 -o "out-$part" >/dev/null
		weights "out-$part/model.safetensors" | grep -E '^bert\.(embeddings|encoder)' | comm -13 before - >"changed-$part"
	done
	not grep -q embeddings changed-embeddings
	grep -q 'encoder.layer.0' changed-embeddings
	not grep -qE 'embeddings|layer\.0' changed-1
	grep -q 'encoder.layer.1' changed-1
	[ ! -s changed-encoder ]
	exits 2 tune --freeze 3 -o out
	says "cannot freeze 3 layers: 'm' has 2"
	exits 2 tune --freeze heads -o out
	says "--freeze takes none, embeddings, encoder or a number of layers, not 'heads'"
}

@test "random weights: nothing of the model but its shape" {
	model
	tune --random-weights --epochs 1 -o one >/dev/null
	model_seed=99
	rm -rf shards run m
	model --seed $model_seed
	tune --random-weights --epochs 1 -o two >/dev/null
	cmp one/model.safetensors two/model.safetensors
	tune --epochs 1 -o three >/dev/null
	not cmp -s one/model.safetensors three/model.safetensors
}

@test "a run that says one class only is degenerate, and told" {
	model
	exits 0 tune --dev "$DATA/man/books-dev.jsonl" --learning-rate 0 --freeze encoder --epochs 1 -o out
	says "seed 12345 is degenerate: it predicts no better than the most frequent class"
	jq -e '.degenerate == 1 and .seeds[0].degenerate' out/results.json
}

@test "a tuned model goes on with its labels, or gets a new head for others" {
	model
	tune --epochs 40 -o first >/dev/null
	mv m base
	mv first m
	tune --learning-rate 0 --epochs 1 -o same >results.json
	jq -e '.accuracy.mean > 0.9' results.json
	table 'text\tlabel\ngood\tx\nsea\ty\nking\tz\n' >three.tsv
	bert-finetune --task classify --model m --train three.tsv --epochs 1 --batch 1 -o three >/dev/null
	jq -e '.id2label == {"0": "x", "1": "y", "2": "z"}' three/config.json
	# The same classes in another order keep their numbers.
	jq '.id2label = {"0": "other", "1": "alice"} | .label2id = {"other": 0, "alice": 1}' m/config.json >c && mv c m/config.json
	tune --learning-rate 0 --epochs 1 -o swapped >swapped.json
	jq -e '.labels == ["other", "alice"] and .accuracy.mean < 0.1' swapped.json
}

@test "pairs of texts, columns by name, packed files, no header" {
	model
	table 'id\tB\ta\tClass\n1\tgood sea\tking\tyes\n2\tsea\tking good\tno\n' >pairs.tsv
	bert-finetune --task classify --model m --train pairs.tsv --text A,b --label class --batch 2 --epochs 2 -o out >/dev/null
	bert-predict --task classify --model out --text A,b pairs.tsv | cut -f1 >index
	[ "$(tr '\n' ' ' <index)" = "index 0 1 " ]
	zstd -q "$DATA/man/books.tsv" -o books.tsv.zst
	bert-finetune --task classify --model m --train books.tsv.zst --batch 8 --max-seq-length 32 --epochs 1 -o packed >/dev/null
	tail -n +2 "$DATA/man/books.tsv" >plain.tsv
	bert-finetune --task classify --model m --train plain.tsv --no-header --batch 8 --max-seq-length 32 --epochs 1 -o plain >/dev/null
	cmp packed/model.safetensors plain/model.safetensors
}

@test "files that are no examples" {
	model
	classify() { bert-finetune --task classify --model m --batch 1 --epochs 1 -o out "$@"; }
	table 'review\tstars\ngood\t5\n' >header.tsv
	exits 3 classify --train header.tsv
	says "'header.tsv', line 1: no column 'label' (--label); the columns are 'review', 'stars'"
	table 'text\tlabel\ngood\tx\nbad\t\n' >empty.tsv
	exits 3 classify --train empty.tsv
	says "'empty.tsv', line 3: the label is empty"
	table 'text\tlabel\ngood\tx\nbad\tx\n' >one.tsv
	exits 3 classify --train one.tsv
	says "'one.tsv': every example is 'x'; there is nothing to tell apart"
	table 'text\tlabel\n' >none.tsv
	exits 3 classify --train none.tsv
	table 'text\tlabel\ngood\tx\nbad\ty\n' >good.tsv
	table 'text\tlabel\ngood\tx\nfine\tz\n' >dev.tsv
	exits 3 classify --train good.tsv --dev dev.tsv
	says "'dev.tsv', line 3: no class is named 'z'; there is 'x', 'y'"
	table '{"text":"a","label":"x\\ty"}\n{"text":"a","label":"z"}\n' >tab.jsonl
	exits 3 classify --train tab.jsonl
	says "'tab.jsonl', line 1: the label has a tab or a line end in it"
	exits 1 classify --train absent.tsv
	says "absent.tsv"
	nothing_in out
	table 'text\tlabel\ngood\tx\nfine\tx\n' >half.tsv
	exits 0 classify --train good.tsv --dev half.tsv
	says "'half.tsv' has no example of 'y'"
	[[ "$output" != *"no token"* ]]
	table 'text\tlabel\ngood\tx\n \tx\n\ty\n' >empty.tsv
	exits 0 classify --train empty.tsv --dev half.tsv -o other
	says "'empty.tsv': 2 examples have no token"
}

@test "another run's folder is refused, naming what differs" {
	model
	tune --epochs 1 -o out >/dev/null
	exits 1 tune --epochs 2 -o out
	says "'out' holds another run: its epochs is 1.0, not 2.0; give another folder"
	exits 1 tune --epochs 1 --seeds 2 -o out
	says "its seeds is 1, not 2"
	exits 1 tune --epochs 1 --dev "$DATA/man/books-dev.jsonl" -o out
	says "its dev is \"none\""
}

@test "a full disk" {
	model
	[ -w /dev/full ] || skip "no /dev/full"
	exits 1 bash -c 'ulimit -f 40; exec bert-finetune --task classify --model m --train "$DATA/man/books.tsv" --batch 8 --max-seq-length 32 --epochs 1 -o out'
	[ ! -e out/results.json ]
	[ ! -e out/model.safetensors ]
	tune --epochs 1 --learning-rate 5e-5 -o out >/dev/null
	tune --epochs 1 --learning-rate 5e-5 -o other >/dev/null
	cmp out/model.safetensors other/model.safetensors
}

@test "a finished seed needs none of its checkpoints, whole or not" {
	model
	tune --epochs 1 -o out >first
	mkdir out/seed-12345/checkpoint-200
	cp m/config.json out/seed-12345/checkpoint-200
	touch out/seed-12345/.checkpoint-100.1.old.tmp
	tune --epochs 1 -o out >second
	cmp first second
	[ ! -e out/seed-12345/checkpoint-200 ]
}

@test "results and models that are not what a run left" {
	model
	tune --epochs 1 --seeds 2 -o out >/dev/null
	cp -r out good
	echo '[]' >out/seed-12345/result.json
	exits 3 tune --epochs 1 --seeds 2 -o out
	says "'out/seed-12345/result.json' is not the result of seed 12345; remove it to run that seed again"
	rm -r out && cp -r good out
	cp m/model.safetensors out/model.safetensors
	exits 3 tune --epochs 1 --seeds 2 -o out
	says "to tune again, remove 'out': 'out/model.safetensors' is not what seed"
}

@test "the model's own folder is refused, and one that holds another model" {
	model
	find m -type f -exec md5sum {} + | sort >before
	exits 2 tune --epochs 1 -o m
	says "'m' is the model's own folder"
	ln -s m link
	exits 2 tune --epochs 1 -o link
	cp -r m other
	exits 1 tune --epochs 1 -o other
	says "'other' holds a model that no run made there; give another folder"
	cmp before <(find m -type f -exec md5sum {} + | sort)
}

@test "the schedule is transformers', and one step is a step" {
	model
	tune --epochs 0.001 -o one >/dev/null
	not cmp -s m/model.safetensors one/model.safetensors
	jq -es 'map(select(.data.average_loss))[0] | .step == 1 and .data.learning_rate == 3e-3' one/seed-12345/log.jsonl
	tune --epochs 4 --warmup 2 -o out >/dev/null
	jq -es 'map(select(.data.average_loss))[-1] | .step == 12 and (.data.learning_rate - 3e-3 / 10 | fabs) < 1e-12' out/seed-12345/log.jsonl
}

@test "what it was tuned on is remembered" {
	model
	tune --epochs 1 --compat hf --max-seq-length 20 -o hf >/dev/null
	jq -e '.tokenizer_compat == "hf" and .max_seq_length == 20' hf/config.json
	printf 'text\n%s\n' "$(printf 'a%.0s' $(seq 150))" >long.tsv
	bert-predict --task classify --model hf long.tsv >as-tuned
	bert-predict --task classify --model hf --compat hf --max-seq-length 20 long.tsv | cmp as-tuned
	not cmp -s as-tuned <(bert-predict --task classify --model hf --compat google long.tsv)
	bert-finetune --task classify --model hf --train "$DATA/man/books.tsv" --epochs 1 --batch 8 -o again >/dev/null
	jq -e '.tokenizer_compat == "hf" and .max_seq_length == 20' again/config.json
	jq '.tokenizer_compat = "x"' hf/config.json >c && mv c hf/config.json
	exits 3 bert-predict --task classify --model hf long.tsv
	says "'hf' was tuned on ids of 'x', which are not known here"
}

@test "what it was pre-trained on is remembered" {
	bert-tokenize --vocab "$DATA/man/vocab.txt" --compat hf --max-word 20 --to docs "$DATA/man/corpus.txt" |
		bert-shard --vocab "$DATA/man/vocab.txt" --shards 1 --max-seq-length 32 --max-predictions-per-seq 5 --dupe-factor 1 -o shards
	bert-train --data shards --config "$DATA/man/config.json" --steps 1 --batch 4 --threads 1 -o run
	mv run/checkpoint-1 m
	tune --epochs 1 -o out >/dev/null
	jq -e '.tokenizer_compat == "hf"' out/config.json
	jq -e '.max_input_chars_per_word == 20' out/tokenizer_config.json
	local a20 a21
	a20=$(printf 'a%.0s' $(seq 20)) a21=${a20}a
	printf 'text\n%s [MASK]\n%s [MASK]\n' "$a20" "$a21" >long.tsv
	printf 'text\n[UNK] [MASK]\n' >unknown.tsv
	bert-predict --task classify --model out long.tsv | cut -f 2- >got
	[ "$(sed -n 2p got)" != "$(sed -n 3p got)" ]
	bert-predict --task classify --model out unknown.tsv | cut -f 2- | tail -n 1 | diff <(sed -n 3p got) -
	# and it decides the result
	jq 'del(.max_input_chars_per_word)' m/tokenizer_config.json >c && mv c m/tokenizer_config.json
	sed "1!s/^\([a-z]*\t\)/\1$a21 /" "$DATA/man/books.tsv" >books.tsv
	bert-finetune --task classify --model m --train books.tsv --batch 8 --epochs 1 -o otherwise >/dev/null
	jq '.max_input_chars_per_word = 20' m/tokenizer_config.json >c && mv c m/tokenizer_config.json
	bert-finetune --task classify --model m --train books.tsv --batch 8 --epochs 1 -o so >/dev/null
	exits 1 cmp -s otherwise/model.safetensors so/model.safetensors
}

@test "a model of texts that a segmenter has cut" {
	model
	jq '.segmenter = "cat"' m/tokenizer_config.json >c && mv c m/tokenizer_config.json
	exits 2 tune --epochs 1 -o out
	says "the model takes texts that a segmenter has cut into words: 'cat'; if these are, say so with --segmented"
	[ ! -e out/config.json ]
	tune --epochs 1 --segmented -o out >/dev/null
	jq -e '.segmenter == "cat"' out/tokenizer_config.json
	exits 2 bert-predict --task classify --model out "$DATA/man/books.tsv"
	says "bert-predict: the model takes texts that a segmenter has cut into words: 'cat'; if these are, say so with --segmented"
	bert-predict --task classify --model out --segmented "$DATA/man/books.tsv" >got
	jq 'del(.segmenter)' out/tokenizer_config.json >c && mv c out/tokenizer_config.json
	bert-predict --task classify --model out "$DATA/man/books.tsv" | diff - got
	bert-predict --task classify --model out --segmented "$DATA/man/books.tsv" | diff - got
}

@test "temporaries of a run that was killed go" {
	model
	mkdir out
	echo '{' >out/.model.safetensors.999999999.0.tmp
	tune --epochs 1 -o out >/dev/null
	[ -z "$(find out -name '.*' -type f)" ]
}

@test "a micro-batch of more tokens than can be counted" {
	model
	jq '.max_position_embeddings = 65535' m/config.json >c && mv c m/config.json
	{ table 'text\tlabel\nsea\tx\n' && yes good | head -n 20000 | tr '\n' ' ' && table '\ty\n'; } >long.tsv
	exits 1 bert-finetune --task classify --model m --random-weights --train long.tsv --max-seq-length 65535 --batch 65536 --micro-batch 65536 -o out
	says "a micro-batch of 65536 instances of 20002 tokens is more than can be counted; give --micro-batch"
}

@test "usage" {
	model
	exits 2 bert-finetune --model m --train x -o out
	says "no task; give --task classify"
	exits 2 bert-finetune --task squash --model m --train x -o out
	says "no task is named 'squash'; there is classify"
	exits 2 bert-finetune --task classify --train x -o out
	says "no model"
	exits 2 bert-finetune --task classify --model m -o out
	says "no examples"
	exits 2 bert-finetune --task classify --model m --train x
	says "no output"
	exits 2 tune --max-seq-length 65 -o out
	says "a max_seq_length of 65 is more than the 64 positions of 'm'"
	exits 2 tune --epochs 0 -o out
	exits 2 bert-finetune --task classify --model m --train - --dev - -o out
	says "standard input ('-') is given twice"
	exits 2 tune --text a,b --max-seq-length 4 -o out
	says "a max_seq_length of 4 has no room for two texts; give 5 or more"
	exits 2 tune --warmup 1.5 -o out
	exits 2 tune --text a,b,c -o out
	says "--text takes NAME or NAME,NAME2"
	exits 1 bert-finetune --task classify --model absent --train x -o out
	exits 1 tune --backend cuda -o out
	nothing_in out
}
