# bert-cat: shards and token documents as JSON lines and as text.

load helpers

# shards DIR OPTION...: a small folder of shards in DIR.
shards() {
	local dir=$1
	shift
	bert-shard --vocab "$DATA/man/vocab.txt" --shards 2 --max-seq-length 32 --max-predictions-per-seq 5 --dupe-factor 2 "$@" -o "$dir" "$DATA/man/corpus.txt"
}
dynamic() { shards "$1" --dupe-factor 1 --masking dynamic "${@:2}"; }

# flip FILE AT: the file with one bit changed.
flip() { perl -e 'local $/; open F, "<:raw", $ARGV[0]; $b = <F>; substr($b, $ARGV[1], 1) ^= "\x04"; binmode STDOUT; print $b' "$1" "$2"; }

@test "one object a line, members in order, compact, lists that agree" {
	shards s
	bert-cat s >out
	[ "$(wc -l <out)" -eq "$(jq .totals.instances s/manifest.json)" ]
	jq -c . out | cmp - out
	jq -e -s 'all(keys_unsorted == ["input_ids", "segment_ids", "masked_lm_positions", "masked_lm_ids", "next_sentence_label"])' out >/dev/null
	jq -e -s 'all((.input_ids | length) == (.segment_ids | length) and (.input_ids | length) <= 32
		and .input_ids[0] == 2 and .input_ids[-1] == 3 and (.masked_lm_positions | length) == (.masked_lm_ids | length)
		and .masked_lm_positions == (.masked_lm_positions | unique) and (.segment_ids | sort) == .segment_ids
		and (.next_sentence_label == 0 or .next_sentence_label == 1))' out >/dev/null
	[ "$(jq -s 'map(.masked_lm_ids | length) | add' out)" -eq "$(jq .totals.predictions s/manifest.json)" ]
	[ "$(jq -s 'map(.next_sentence_label) | add' out)" -eq "$(jq .totals.random_next s/manifest.json)" ]
	[ "$(jq -s 'map(.input_ids | length) | add' out)" -eq "$(jq .totals.instance_tokens s/manifest.json)" ]
}

@test "a folder is its shards in order, whatever --threads" {
	shards s
	bert-cat s/shard-00000-of-00002.shard s/shard-00001-of-00002.shard >want
	for threads in 1 2 7; do bert-cat --threads $threads s | cmp - want; done
}

@test "standard input, by name or by default, packed or not" {
	shards s
	bert-cat s/shard-00001-of-00002.shard >want
	bert-cat <s/shard-00001-of-00002.shard | cmp - want
	bert-cat - <s/shard-00001-of-00002.shard | cmp - want
	gzip -c s/shard-00001-of-00002.shard >packed.gz
	bert-cat packed.gz | cmp - want
	bert-cat - <packed.gz | cmp - want
}

@test "--skip and --count: by number over all files, from pipes too" {
	shards s
	bert-cat s >all
	n=$(wc -l <all)
	for skip in 0 1 17 $((n - 1)) $n $((n + 5)); do
		tail -n +$((skip + 1)) all >want
		bert-cat --skip "$skip" s | cmp - want
		for count in 0 1 40; do
			bert-cat --skip "$skip" --count "$count" s | cmp - <(head -n "$count" want)
			bert-cat --skip "$skip" --count "$count" - s/shard-00001-of-00002.shard <s/shard-00000-of-00002.shard | cmp - <(head -n "$count" want)
		done
	done
	bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs "$DATA/man/corpus.txt" >c.tok
	bert-cat --skip 3 --count 2 c.tok | cmp - <(bert-cat c.tok | sed -n 4,5p)
}

@test "--count reads no further than it must" {
	shards s
	bert-cat --count 2 s/shard-00000-of-00002.shard s/missing | cmp - <(bert-cat s | head -n 2)
}

@test "dynamic masks: none without --epoch, drawn for each epoch with it" {
	for word in "" --whole-word-mask; do
		rm -rf d
		dynamic d $word
		bert-cat d >plain
		jq -e -s 'all(.masked_lm_positions == [] and .masked_lm_ids == [])' plain >/dev/null
		bert-cat --epoch 0 d >zero
		bert-cat --epoch 1 d >one
		not cmp -s zero one
		bert-cat --threads 1 --epoch 1 d | cmp - one
		bert-cat --skip 5 --count 3 --epoch 1 d | cmp - <(sed -n 6,8p one)
		jq -e -s 'all(.masked_lm_positions | length >= 1)' one >/dev/null || [ -n "$word" ]
		jq -c '. as $i | reduce range(.masked_lm_ids | length) as $k (.; .input_ids[$i.masked_lm_positions[$k]] = $i.masked_lm_ids[$k]) | .masked_lm_positions = [] | .masked_lm_ids = []' one |
			cmp - plain
	done
	rm d/vocab.txt
	exits 1 bert-cat --epoch 1 d
	says "the vocabulary of 'd/shard-00000-of-00002.shard' is needed"
	bert-cat --vocab "$DATA/man/vocab.txt" --epoch 1 d | cmp - one
}

@test "--epoch leaves static masks as they are" {
	shards s
	bert-cat --epoch 3 s | cmp - <(bert-cat s)
}

@test "--tokens adds the strings of the ids" {
	shards s
	bert-cat --tokens s >out
	jq -c 'del(.tokens)' out | cmp - <(bert-cat s)
	jq -r '.tokens | join(" ")' out >got
	jq -r --rawfile v "$DATA/man/vocab.txt" '($v | split("\n")) as $v | .input_ids | map($v[.]) | join(" ")' out | cmp - got
}

@test "--text is for people" {
	shards s
	bert-cat --text s >out
	[ "$(grep -c '^instance ' out)" -eq "$(jq .totals.instances s/manifest.json)" ]
	grep -q '\[MASK:[a-z#]' out
	grep -qE '^  a: ' out
	not grep -q '\[CLS\]' out
	bert-cat --text --skip 3 --count 1 s | diff - <(sed -n 10,12p out)
}

@test "token documents: every sentence's ids, keys, strings" {
	bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs "$DATA/man/corpus.txt" >c.tok
	bert-cat c.tok >out
	jq -c . out | cmp - out
	jq -r '.sentences[] | join(" ")' out | diff - <(bert-tokenize --vocab "$DATA/man/vocab.txt" "$DATA/man/corpus.txt" | grep .)
	jq -e -s 'all((.key | test("^[0-9a-f]{32}$")) and .id == null and .title == null)' out >/dev/null
	bert-tokenize --vocab "$DATA/man/vocab.txt" --from jsonl --to docs "$DATA/man/documents.jsonl" | bert-cat | jq -c '[.id, .title]' |
		diff - <(jq -c '[(.id | tostring), .title]' "$DATA/man/documents.jsonl")
	bert-cat --tokens --vocab "$DATA/man/vocab.txt" c.tok | jq -r '.tokens[] | join(" ")' |
		diff - <(bert-tokenize --vocab "$DATA/man/vocab.txt" --to tokens "$DATA/man/corpus.txt" | grep .)
	exits 1 bert-cat --tokens c.tok
	says "the vocabulary of 'c.tok' is needed and is not beside it: name it by --vocab"
	cp "$DATA/man/vocab.txt" .
	bert-cat --text c.tok | grep -q '^  alice was beginning to get very tired'
}

@test "another vocabulary is refused" {
	shards s
	head -n 900 "$DATA/man/vocab.txt" >other
	exits 1 bert-cat --tokens --vocab other s
	says "'other' is not the vocabulary of 's/shard-00000-of-00002.shard'"
	exits 1 bert-cat --vocab other s
	exits 1 bert-cat --vocab other --count 1 s
	exits 1 bert-cat --vocab nothing s
}

@test "damage of any kind: exit 3, the file named, nothing from beyond it" {
	shards s
	f=s/shard-00000-of-00002.shard
	bert-cat $f >want
	size=$(stat -c %s $f)
	for at in 0 8 40 200 900 $((size / 2)) $((size * 3 / 4)) $((size - 97)) $((size - 1)); do
		head -c "$at" $f >cut
		status=0; bert-cat cut >out 2>err || status=$?
		[ $status -eq 3 ]
		grep -q "^bert-cat: 'cut'" err
		cmp -n "$(stat -c %s out)" out want
		flip $f "$at" >flipped
		status=0; bert-cat flipped >out 2>err || status=$?
		[ $status -eq 3 ]
		cmp -n "$(stat -c %s out)" out want
		{ head -c "$at" $f; tail -c +$((at + 1)) $f | head -c 64; tail -c +$((at + 1)) $f; } >doubled
		status=0; bert-cat doubled >out 2>err || status=$?
		[ $status -eq 3 ]
		cmp -n "$(stat -c %s out)" out want
		exits 3 bert-cat - <cut
	done
}

@test "a damaged file gives no output file" {
	shards s
	head -c 2000 s/shard-00000-of-00002.shard >cut
	exits 3 bert-cat -o out cut
	[ ! -e out ]
	bert-cat -o out s
	bert-cat s | cmp - out
}

@test "what is no shard: text, an empty file, an empty folder" {
	exits 3 bert-cat "$DATA/man/corpus.txt"
	says "corpus.txt' is no token document or shard"
	: >empty
	exits 3 bert-cat empty
	mkdir none
	exits 1 bert-cat none
	says "no shards in 'none'"
}

@test "a full disk fails, a closed pipe is silent" {
	shards s
	exits 1 bash -c 'bert-cat s > /dev/full'
	run bash -c "bert-cat \$(yes s | head -n 200) | head -n 1 >/dev/null; echo \${PIPESTATUS[0]}"
	[ "$output" = 141 ] || { echo "$output"; return 1; }
}

@test "masks of an epoch may be chosen, the same by the index; not where they are static" {
	bert-shard --vocab "$DATA/man/vocab.txt" --max-seq-length 64 --masking dynamic -o s "$DATA/man/corpus.txt"
	bert-shard --vocab "$DATA/man/vocab.txt" --max-seq-length 64 --masking dynamic --mask-spans span --masked-lm-prob 0.3 --random-replace-prob 0.15 -o other "$DATA/man/corpus.txt"
	# what another recipe would have drawn
	cmp <(bert-cat --epoch 2 other) <(bert-cat --epoch 2 --mask-spans span --masked-lm-prob 0.3 --max-predictions-per-seq 20 --random-replace-prob 0.15 s)
	cmp <(bert-cat --epoch 2 s) <(bert-cat --epoch 2 --whole-word-mask=false --masked-lm-prob 0.15 --max-predictions-per-seq 20 --random-replace-prob 0.1 other)
	cmp <(bert-cat --epoch 2 --mask-spans ngram --skip 3 s) <(bert-cat --epoch 2 --mask-spans ngram s | tail -n +4)
	bert-cat --epoch 1 --masked-lm-prob 0.5 s | jq -se 'map((.masked_lm_positions | length) / (.input_ids | length)) | add / length | . > 0.45 and . < 0.55'
	exits 2 bert-cat --masked-lm-prob 0.5 s
	says "goes with --epoch"
	bert-shard --vocab "$DATA/man/vocab.txt" --max-seq-length 64 -o static "$DATA/man/corpus.txt"
	exits 1 bert-cat --epoch 1 --masked-lm-prob 0.5 static
	says "its masks are static"
	exits 1 bert-cat --epoch 1 --masked-lm-prob 0.5 --count 1 static
	says "its masks are static"
}

@test "a folder that lacks shards is shown with a warning, a copy in another's place is not" {
	shards s
	bert-cat s/shard-00000-of-00002.shard >half
	mv s/shard-00001-of-00002.shard kept
	exits 0 bert-cat -o got s
	says "'s' is not complete: 1 of its 2 shards is missing"
	[ "${#lines[@]}" -eq 1 ]
	cmp half got
	rm s/manifest.json
	exits 0 bert-cat -o got s
	says "number 1"
	mkdir s/.work
	exits 0 bert-cat -o got s
	says "is not finished"
	exits 0 bert-cat -o got s/shard-00000-of-00002.shard
	[ -z "$output" ]
	rmdir s/.work
	cp s/shard-00000-of-00002.shard s/shard-00001-of-00002.shard
	exits 3 bert-cat -o got s
	says "in the place of shard 1 of 2"
	exits 3 bert-cat --skip 1 -o got s
	says "in the place of shard 1 of 2"
	exits 0 bert-cat --count 1 -o got s
}
