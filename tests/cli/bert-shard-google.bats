# bert-shard --compat google: the instances of create_pretraining_data.py.

load helpers

# google ARGUMENTS...: with the uncased vocabulary, which the digests are of.
google() { bert-shard --vocab "$DATA/vocab/bert-base-uncased.txt" --compat google "$@"; }

# in_order FOLDER N: the instances of its N shards in their common order, one of each in turn.
in_order() {
	local k
	for ((k = 0; k < $2; k++)); do bert-cat "$(printf '%s/shard-%05d-of-%05d.shard' "$1" "$k" "$2")" >"shown.$k"; done
	paste -d '\n' shown.* | sed '/^$/d'
}

@test "the instances are the reference's, in its order, through its flags" {
	local digest n files options i=0
	while IFS=$'\t' read -r digest n files options; do
		files=${files/corpus/"$DATA/man/corpus.txt"}
		files=${files/edge/"$DATA/google/edge.txt"}
		files=${files/novel/"$DATA/man/novel.txt"}
		# shellcheck disable=SC2086	# options and files are words
		google --shards 1 -o "out.$i" $options --input_file="${files/ /,}"
		bert-cat "out.$i" >shown
		[ "$(wc -l <shown)" = "$n" ]
		[ "$(sha256sum <shown)" = "$digest  -" ] || { echo "other instances: $files $options"; return 1; }
		bert-verify "out.$i"
		i=$((i + 1))
	done <"$DATA/google/cases.tsv"
	[ "$i" -gt 5 ]
}

@test "instance k goes to shard k mod N, whatever the threads and whoever packed the input" {
	google --shards 1 -o one "$DATA/man/corpus.txt"
	google --shards 5 --threads 3 -o five - <"$DATA/man/corpus.txt"
	gzip -c "$DATA/man/corpus.txt" >in.gz
	google --shards 5 --threads 1 --memory 64M -o packed in.gz
	cmp <(bert-cat one) <(in_order five 5)
	for f in five/*.shard; do cmp "$f" "packed/${f##*/}"; done
	bert-verify five
	bert-stat five >five.json
	bert-stat one >one.json
	cmp <(jq .documents five.json) <(jq .documents one.json)
	[ "$(jq .totals.documents five/manifest.json)" = 12 ]
}

@test "token documents in their order make what their text makes" {
	bert-tokenize --vocab "$DATA/vocab/bert-base-uncased.txt" --to docs -o in.tok "$DATA/man/corpus.txt"
	google --dupe-factor 2 -o text "$DATA/man/corpus.txt"
	google --dupe-factor 2 -o docs in.tok
	cmp text/shard-00000-of-00001.shard docs/shard-00000-of-00001.shard
}

@test "more masks than tokens are the reference's to ask for: the same instances, as many places" {
	google --max_seq_length=16 -o out "$DATA/man/corpus.txt"
	[ "$(jq .recipe.max_predictions_per_seq out/manifest.json)" = 20 ]
	bert-verify out
	google --max-seq-length 16 --max-predictions-per-seq 16 -o least "$DATA/man/corpus.txt"
	cmp <(bert-cat out) <(bert-cat least)
	bert-export --to tfrecord -o export out
	bert-import --vocab "$DATA/vocab/bert-base-uncased.txt" -o back export/*.tfrecord
	cmp <(bert-cat out) <(bert-cat back)
}

@test "what is missing is made again, and nothing else" {
	google --shards 3 -o out "$DATA/man/corpus.txt"
	cp -r out whole
	rm out/shard-00001-of-00003.shard out/manifest.json
	exits 1 google --shards 3 -o out "$DATA/man/corpus.txt"
	says "holds shards but no manifest.json"
	cp whole/manifest.json out
	touch -d @1 out/shard-00002-of-00003.shard
	google --shards 3 -o out "$DATA/man/corpus.txt"
	diff -r out whole
	[ "$(stat -c %Y out/shard-00002-of-00003.shard)" = 1 ]
	exits 1 google --shards 3 --random_seed 2 -o out "$DATA/man/corpus.txt"
	says "recipe.seed"
	exits 1 bert-shard --vocab "$DATA/vocab/bert-base-uncased.txt" --shards 3 -o out "$DATA/man/corpus.txt"
	says "recipe."
}

@test "what does not go with it is refused" {
	for o in "--stage index" "--stage plan" "--stage write --part 0/2" "--part 0/2" "--masking dynamic --dupe-factor 1"; do
		# shellcheck disable=SC2086
		exits 2 google $o -o out "$DATA/man/corpus.txt"
	done
	exits 1 google -o out /dev/null
	says "no documents"
	nothing_in out
}

@test "more than memory holds is refused with what it needs" {
	awk 'BEGIN { for (d = 0; d < 20000; d++) print "a document of some few words number " d "\nand another sentence of it\n" }' >in
	exits 1 google --memory 16M --threads 1 -o out in
	says "--compat google holds all in memory, and needs about"
	[ -z "$(find out -name '*.shard')" ]
	google --memory "$(grep -o "[0-9]*M$" <<<"$output")" --threads 1 -o out in
	bert-verify out
}

@test "a flipped byte is found" {
	google --shards 2 --compress 0 -o out "$DATA/man/corpus.txt"
	at=$(($(stat -c %s out/shard-00001-of-00002.shard) / 2))
	printf '\377' | dd of=out/shard-00001-of-00002.shard bs=1 seek="$at" conv=notrunc status=none
	exits 3 bert-verify out
	exits 3 bert-cat out
}
