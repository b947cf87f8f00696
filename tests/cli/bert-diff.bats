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
