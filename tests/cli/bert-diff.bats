# bert-diff: two sets of shards side by side.

load helpers

shard() { bert-shard --vocab "$DATA/man/vocab.txt" --max-seq-length 48 --max-predictions-per-seq 9 "$@" "$DATA/man/corpus.txt"; }

@test "the same is silent, whatever made it" {
	shard --dupe-factor 2 -o a
	shard --dupe-factor 2 --compress 0 -o b
	exits 0 bert-diff a b
	[ -z "$output" ]
	exits 0 bert-diff a/shard-00000-of-00001.shard b
	bert-export --to tfrecord -o records a
	bert-import --vocab "$DATA/man/vocab.txt" -o c records/*.tfrecord
	exits 0 bert-diff -v a c
	says "$(bert-cat a | wc -l) instances are the same"
}

@test "what differs is said, and shown, with the recipes" {
	shard --dupe-factor 1 -o a
	shard --dupe-factor 1 --seed 5 -o b
	exits 1 bert-diff a b
	says "instance 0: "
	says "a: instance 0: "
	says "b: instance 0: "
	says "recipes: seed is 12345, not 5"
	rm a/vocab.txt
	exits 1 bert-diff a b
	[[ "$output" != *"a: instance"* ]]
	bert-diff --vocab "$DATA/man/vocab.txt" -o said a b || [ $? = 1 ]
	grep -q "^instance 0: " said
}

@test "every member counts" {
	shard --dupe-factor 1 -o a
	bert-export --to tfrecord -o records a
	bert-import --vocab "$DATA/man/vocab.txt" -o same records/*.tfrecord
	shard --dupe-factor 1 --masked-lm-prob 0.3 -o more
	exits 1 bert-diff a more
	says "recipes: masked_lm_prob is 0.15, not 0.3"
	exits 0 bert-diff --unmasked a more
	shard --masking dynamic -o dynamic
	exits 0 bert-diff --unmasked a dynamic
	exits 1 bert-diff a dynamic
	exits 0 bert-diff --epoch 3 dynamic dynamic
	exits 1 bert-diff --epoch 3 a dynamic
	shard --dupe-factor 1 --pairs sop -o sop
	exits 1 bert-diff --unmasked a sop
	says "recipes: pairs is"
}

@test "one that ends before the other" {
	shard --dupe-factor 1 --shards 2 -o a
	n=$(bert-cat a/shard-00000-of-00002.shard | wc -l)
	exits 1 bert-diff a a/shard-00000-of-00002.shard
	says "a has $(bert-cat a | wc -l) instances, a/shard-00000-of-00002.shard $n: the first $n are the same"
}

@test "what cannot be compared" {
	shard --dupe-factor 1 -o a
	exits 2 bert-diff a
	exits 2 bert-diff a a a
	exits 1 bert-diff a nothing
	printf '\1' | dd of=a/shard-00000-of-00001.shard bs=1 seek=3000 conv=notrunc status=none
	exits 3 bert-diff a a
}

# named PERL: a line of JSON each, with ids and titles; PERL may change $_.
named() {
	perl -CSD -ne 'BEGIN { $/ = ""; } chomp; s/(["\\\\])/\\$1/g; s/\n/\\n/g; my $n = $.; my ($id, $title) = ("\"id$n\"", "\"T $n\"");
		'"$1"'; print "{\"id\": $id, \"title\": $title, \"text\": \"$_\"}\n"' "$DATA/man/corpus.txt"
}

# shellcheck disable=SC2016	# the variables are perl's
@test "other ids or titles of the same documents are a difference of their own" {
	make() { bert-shard --vocab "$DATA/man/vocab.txt" --dupe-factor 1 --shards 2 "$@"; }
	named '' >in
	make --from jsonl -o a in
	make --from jsonl --compress 0 -o same in
	exits 0 bert-diff a same
	[ -z "$output" ]
	# One id.
	named '$id = "\"other\"" if $n == 5' >in.id
	make --from jsonl -o id in.id
	exits 1 bert-diff a id
	[ "${#lines[@]}" -eq 2 ]
	[[ "${lines[0]}" =~ ^document\ [0-9]\ of\ shard\ [01]:\ id:\ \"id5\",\ \"other\"$ ]]
	[ "${lines[1]}" = "the instances are the same; of 12 documents 1 has another id or title" ]
	exits 1 bert-diff id a
	says ': id: "other", "id5"'
	exits 0 bert-diff --instances a id
	[ -z "$output" ]
	bert-diff -o said a id || [ $? = 1 ]
	grep -q '"other"' said
	# Titles that are longer, or are not there; both.
	named '$title = $n == 2 ? "null" : "\"T $n \xe9\\t\\\"\"" if $n < 4' >in.title
	make --from jsonl -o title in.title
	exits 1 bert-diff a title
	says "of 12 documents 3 have another id or title"
	make -o plain "$DATA/man/corpus.txt"
	exits 1 bert-diff plain a
	says 'null, "id'
	says 'null, "T '
	says "of 12 documents 12 have another id or title"
	# Where instances differ, that is all there is to say.
	make --from jsonl --seed 7 -o seed in.id
	exits 1 bert-diff a seed
	not grep -q "another id" <<<"$output"
	# What was imported has other documents.
	bert-export --to tfrecord -o records a
	bert-import --vocab "$DATA/man/vocab.txt" -o imported records/*.tfrecord
	exits 0 bert-diff a imported
	for f in records/*.tfrecord; do cp "$f" "records/other-${f##*/}"; done
	bert-import --vocab "$DATA/man/vocab.txt" -o renamed records/other-*
	exits 0 bert-diff imported renamed
	# Of equal documents each has its own names.
	for n in 1 2; do named '' | sed "s/: \"id/: \"copy$n-id/" ; done >copies
	make --from jsonl -o twice copies
	sed 's/copy2-id7"/none"/' copies >copies.other
	make --from jsonl -o twice.other copies.other
	exits 1 bert-diff twice twice.other
	says '"none"'
	says "of 24 documents "
	tac copies >copies.turned
	make --from jsonl -o turned copies.turned
	exits 0 bert-diff twice turned
}
