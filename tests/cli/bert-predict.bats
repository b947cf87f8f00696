# bert-predict: the form of predictions, what does not change them, refusals.

load helpers

# tuned: a model in m that tells the sentences of books.tsv apart.
tuned() {
	bert-shard --vocab "$DATA/man/vocab.txt" --shards 1 --max-seq-length 32 --max-predictions-per-seq 5 --dupe-factor 1 -o shards "$DATA/man/corpus.txt"
	bert-train --data shards --config "$DATA/man/config.json" --steps 3 --batch 4 --threads 1 --save-every 0 -o run
	bert-finetune --task classify --model run/checkpoint-3 --train "$DATA/man/books.tsv" --batch 8 --max-seq-length 32 --learning-rate 3e-3 \
		--threads 1 --epochs 30 -o m >/dev/null
}

predict() { bert-predict --task classify --model m "$@"; }

@test "index, prediction, probability, in the order of the file" {
	tuned
	predict "$DATA/man/books.tsv" >out.tsv
	[ "$(head -n 1 out.tsv)" = "$(printf 'index\tprediction\tprobability')" ]
	[ "$(tail -n +2 out.tsv | cut -f1 | tr '\n' ' ')" = "$(seq 0 24 | tr '\n' ' ')" ]
	[ "$(tail -n +2 out.tsv | cut -f2 | sort -u | tr '\n' ' ')" = "alice other " ]
	awk -F'\t' 'NR > 1 && !($3 >= 0.5 && $3 <= 1) { exit 1 }' out.tsv
	cut -f1 "$DATA/man/books.tsv" | tail -n +2 >gold
	[ "$(paste gold <(tail -n +2 out.tsv | cut -f2) | awk '$1 == $2' | wc -l)" -ge 23 ]
}

@test "a text's prediction does not depend on what stands beside it, on the file's form or on threads" {
	tuned
	predict "$DATA/man/books.tsv" | cut -f2- >all
	predict --threads 1 - <"$DATA/man/books.tsv" | cut -f2- >stdin
	cmp all stdin
	for i in 2 9 26; do
		{ echo text; sed -n "${i}p" "$DATA/man/books.tsv" | cut -f2; } | predict | tail -n 1 | cut -f2- >one
		cmp one <(sed -n "${i}p" all)
	done
	tail -n +2 "$DATA/man/books.tsv" | cut -f2 >texts
	predict --no-header texts | cut -f2- | cmp all
	tail -n +2 "$DATA/man/books.tsv" | predict --no-header | cut -f2- | cmp all
	jq -R '{text: .}' -c texts | predict | cut -f2- | cmp all
	jq -R '{text: .}' -c texts | zstd -q | predict | cut -f2- | cmp all
	seq 200 | while read -r _; do cat texts; done >many
	predict --no-header many | tail -n 25 | cut -f2- | cmp <(tail -n +2 all)
	[ "$(predict --no-header many | tail -n 1 | cut -f1)" -eq 4999 ]
}

@test "lines and tabs inside a text are white space" {
	tuned
	printf '{"text":"Alice was\\n not\\ta bit hurt"}\n{"text":"Alice was not a bit hurt"}\n' | predict | cut -f2- >two
	cmp <(sed -n 2p two) <(sed -n 3p two)
}

@test "max_seq_length is the model's, or another" {
	tuned
	exits 0 predict -v "$DATA/man/books.tsv"
	says "25 examples, 10 cut"
	exits 0 predict -v --max-seq-length 64 "$DATA/man/books.tsv"
	says "25 examples, 0 cut"
	exits 2 predict --max-seq-length 65 "$DATA/man/books.tsv"
	says "a max_seq_length of 65 is more than the 64 positions of 'm'"
	exits 2 predict --max-seq-length 2 "$DATA/man/books.tsv"
}

@test "labels that are no class of the model are told, and change nothing" {
	tuned
	sed '3s/^alice/bob/; 5s/^alice/eve/' "$DATA/man/books.tsv" >other.tsv
	predict other.tsv >a 2>warned
	grep -qF "2 of 25 labels are no class of the model, the first in line 3" warned
	predict "$DATA/man/books.tsv" >b
	cmp a b
}

@test "an empty file has no predictions, an empty text has one" {
	tuned
	echo '{"text":""}' >empty.jsonl
	predict empty.jsonl >out 2>warned
	[ "$(wc -l <out)" -eq 2 ]
	grep -qF "1 of 1 examples have no token" warned
	printf 'text\ngood\n' | predict >out 2>warned
	not grep -qF "no token" warned
	exits 3 predict /dev/null
}

@test "models that are not tuned, and other refusals" {
	tuned
	exits 1 bert-predict --task classify --model run/checkpoint-3 "$DATA/man/books.tsv"
	says "classifier.weight"
	exits 1 bert-predict --task classify --model absent "$DATA/man/books.tsv"
	exits 2 bert-predict --model m
	says "no task"
	exits 2 bert-predict --task classify
	says "no model"
	exits 2 bert-predict --task x --model m
	says "no task is named 'x'"
	exits 3 predict - <<<'review'
	exits 1 predict absent.tsv
	[ ! -e out ]
	exits 3 predict -o out - <<<"$(printf 'text\tx\na\tb\nc\n')"
	[ ! -e out ]
	cp -r m odd
	jq '.id2label."0" = "a\tb"' m/config.json >odd/config.json
	exits 1 bert-predict --task classify --model odd "$DATA/man/books.tsv"
	says "the name of its class 0 is empty, or has a tab or a line end in it"
	jq '.problem_type = "multi_label_classification"' m/config.json >odd/config.json
	exits 1 bert-predict --task classify --model odd "$DATA/man/books.tsv"
	says "scores are no classes of which one is right"
	head -c 5000 m/model.safetensors >cut && mv cut m/model.safetensors
	exits 3 predict "$DATA/man/books.tsv"
}
