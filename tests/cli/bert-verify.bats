# bert-verify: what is whole and true, and every way of not being it.

load helpers

shards() {
	local dir=$1
	shift
	bert-shard --vocab "$DATA/man/vocab.txt" --shards 3 --max-seq-length 32 --dupe-factor 2 "$@" -o "$dir" "$DATA/man/corpus.txt"
}
tokens() { bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs "$DATA/man/corpus.txt" >"$1"; }

@test "a good folder: one line a file, exit 0" {
	shards s
	exits 0 bert-verify s
	[ "${#lines[@]}" -eq 5 ]
	[[ "${lines[0]}" =~ ^s/shard-00000-of-00003\.shard:\ ok,\ [0-9,]+\ instances\ of\ [0-9]+\ documents,\ masks\ drawn\ again$ ]]
	[ "${lines[3]}" = "s/vocab.txt: ok, 1,000 tokens" ]
	[[ "${lines[4]}" =~ ^s/manifest\.json:\ ok,\ 3\ shards,\ 12\ documents,\ [0-9,]+\ instances$ ]]
	exits 0 bert-verify -q s
	[ -z "$output" ]
}

@test "all kinds of shards are good" {
	for how in "--whole-word-mask" "--masking dynamic --dupe-factor 1" "--masking dynamic --dupe-factor 1 --whole-word-mask" "--compress 0" \
		"--max-seq-length 300 --max-predictions-per-seq 45" "--seed 7 --shards 1 --dupe-factor 5" "--name train"; do
		rm -rf s
		shards s $how
		for threads in 1 3; do exits 0 bert-verify --threads $threads s; done
	done
}

@test "shards by themselves, token documents, pipes" {
	shards s
	tokens c.tok
	exits 0 bert-verify s/*.shard c.tok
	[ "${#lines[@]}" -eq 4 ]
	[[ "${lines[3]}" =~ ^c\.tok:\ ok,\ 12\ documents,\ [0-9,]+\ tokens$ ]]
	exits 0 bash -c 'bert-verify < c.tok'
	[[ "${lines[0]}" == "standard input: ok, 12 documents"* ]]
	mkdir alone
	cp s/shard-00001-of-00003.shard alone/any-name
	exits 0 bert-verify alone/any-name
	cp s/shard-00001-of-00003.shard alone/shard-00002-of-00003.shard
	exits 3 bert-verify alone/shard-00002-of-00003.shard
	says "fault: it is shard 1 of 3, not what its name says"
}

@test "one flipped bit anywhere is found" {
	shards s
	f=s/shard-00001-of-00003.shard
	cp $f good
	size=$(stat -c %s good)
	for ((at = 0; at < size; at += size / 60 + 1)); do
		perl -e 'local $/; open F, "<:raw", "good"; $b = <F>; substr($b, $ARGV[0], 1) ^= chr(1 << $ARGV[0] % 8); open G, ">:raw", $ARGV[1]; print G $b' "$at" $f
		exits 3 bert-verify s
		says "$f: fault: "
		says "faults in 1 of "
	done
}

@test "missing, cut, doubled, swapped, foreign shards" {
	shards s
	cp -r s good
	again() { rm -rf s; cp -r good s; }
	rm s/shard-00001-of-00003.shard
	exits 3 bert-verify s
	says "s/shard-00001-of-00003.shard: fault: missing"
	again
	truncate -s -1 s/shard-00002-of-00003.shard
	exits 3 bert-verify s
	says "s/shard-00002-of-00003.shard: fault: "
	says "s/shard-00000-of-00003.shard: ok"
	again
	cp s/shard-00000-of-00003.shard s/shard-00001-of-00003.shard
	exits 3 bert-verify s
	says "s/shard-00001-of-00003.shard: fault: it is shard 0 of 3"
	again
	shards other --seed 99
	cp other/shard-00001-of-00003.shard s/
	exits 3 bert-verify s
	says "its recipe is not that of 'manifest.json': 'seed' differs"
	again
	head -n 40 "$DATA/man/corpus.txt" >part
	bert-shard --vocab "$DATA/man/vocab.txt" --shards 3 --max-seq-length 32 --dupe-factor 2 -o less part
	cp less/shard-00001-of-00003.shard s/
	exits 3 bert-verify s
	says "it was made from another corpus than 'manifest.json'"
	again
	cp s/shard-00001-of-00003.shard s/extra-00001-of-00003.shard
	exits 3 bert-verify s
	says "s/extra-00001-of-00003.shard: fault: "
	again
	cp less/manifest.json s/
	exits 3 bert-verify s
	again
	rm s/manifest.json
	exits 3 bert-verify s
	says "s/manifest.json: fault: missing"
	again
	echo >>s/vocab.txt
	exits 3 bert-verify s
	says "s/vocab.txt: fault: it is not the vocabulary"
	again
	rm s/vocab.txt
	exits 3 bert-verify s
	says "s/vocab.txt: fault: missing"
	again
	exits 0 bert-verify s
}

@test "a manifest of another run of the same corpus, and changed ones" {
	shards s
	cp s/manifest.json good
	bert-shard --vocab "$DATA/man/vocab.txt" --shards 3 --max-seq-length 32 --seed 99 -o other "$DATA/man/corpus.txt"
	cp other/manifest.json s/
	exits 3 bert-verify s
	says "is not that of 'manifest.json'"
	for change in '.shards[1].digest = .shards[0].digest' '.totals.truncated += 1' '.corpus.documents += 1' 'del(.options.name)' \
		'.options.compress = 3' '.made_by = "x"' '.inputs[0].name = "x"' '.inputs[0].bytes += 1' 'del(.digest)'; do
		jq -c "$change" good >s/manifest.json
		exits 3 bert-verify s
		says "s/manifest.json: fault: "
	done
	cp good s/manifest.json
	exits 0 bert-verify s
	for change in 's/,/, /' 's/$/\n/' 's/(^\{.*\},"digest":")([0-9a-f]{32})(",)/$1\U$2\E$3/'; do
		perl -pe "$change" good >s/manifest.json
		cmp -s good s/manifest.json && return 1
		exits 3 bert-verify s
		says "s/manifest.json: fault: "
	done
}

@test "manifest.json: one flipped bit in any byte is found" {
	bert-shard --vocab "$DATA/man/vocab.txt" --shards 1 --max-seq-length 32 --dupe-factor 1 -o s "$DATA/man/corpus.txt"
	cp s/manifest.json good
	size=$(stat -c %s good)
	for ((at = 0; at < size; at += 7)); do
		perl -e 'local $/; open F, "<:raw", "good"; $b = <F>; substr($b, $ARGV[0], 1) ^= " "; print $b' "$at" >s/manifest.json
		exits 3 bert-verify s
		says "s/manifest.json: fault: "
	done
}

@test "it goes on after faults, and the worst one decides" {
	shards s
	tokens c.tok
	head -c 100 c.tok >cut.tok
	exits 3 bert-verify /nonexistent/x cut.tok s
	says "/nonexistent/x: cannot open '/nonexistent/x'"
	says "cut.tok: fault: ends early"
	says "s/manifest.json: ok"
	exits 1 bert-verify /nonexistent/x s
	exits 3 bert-verify "$DATA/man/corpus.txt"
	mkdir none
	exits 1 bert-verify none
	says "none: no shards in it"
}

@test "--absent finds a document by its key" {
	shards s
	tokens c.tok
	key=$(bert-cat --count 1 c.tok | jq -r .key)
	exits 3 bert-verify --absent "$key" s
	says "the document with key $key is in it"
	exits 3 bert-verify --absent 00000000000000000000000000000000 --absent "$key" c.tok
	exits 0 bert-verify --absent 00000000000000000000000000000000 s c.tok
	exits 0 bert-verify --absent 00000000000000000000000000000000 --absent ffffffffffffffffffffffffffffffff s/shard-00000-of-00003.shard
	says "; it cannot hold ffffffffffffffffffffffffffffffff, which belongs to shard 2 of 3"
	[[ "$output" != *00000000000000000000000000000000* ]]
	exits 2 bert-verify --absent xyz s
	says "'xyz' is no key"
	tail -n +"$(awk '/^$/ { print NR + 1; exit }' "$DATA/man/corpus.txt")" "$DATA/man/corpus.txt" >less
	bert-shard --vocab "$DATA/man/vocab.txt" -o gone less
	exits 0 bert-verify --absent "$key" gone
	bert-export --to tfrecord -o records s
	bert-import --vocab "$DATA/man/vocab.txt" -o imported records/*.tfrecord
	exits 0 bert-verify imported
	[[ "${lines[0]}" =~ masks\ not\ drawn\ again\ \(imported\):\ [78][0-9.]+\ %\ \[MASK\],\ [0-9.]+\ %\ their\ own\ token,\ [0-9.]+\ %\ another$ ]]
	exits 3 bert-verify --absent "$key" imported
	says "of imported instances nobody knows the documents"
}

@test "masks of whole words need the vocabulary" {
	shards s --whole-word-mask
	mkdir alone
	cp s/shard-00000-of-00003.shard alone
	exits 0 bert-verify alone/shard-00000-of-00003.shard
	says "masks not drawn again (no vocabulary)"
	exits 0 bert-verify --vocab "$DATA/man/vocab.txt" alone/shard-00000-of-00003.shard
	says "masks drawn again"
	head -n 900 "$DATA/man/vocab.txt" >other
	exits 1 bert-verify --vocab other alone/shard-00000-of-00003.shard
	says "is not the vocabulary"
}

@test "one document, none but empty ones in a shard" {
	echo "Alice was beginning to get very tired." >one
	bert-shard --vocab "$DATA/man/vocab.txt" --shards 2 -o one.shards one
	exits 0 bert-verify one.shards
	says "0 instances of 0 documents"
}

# A run with checkpoints of steps 2 and 4.
run_of_four() {
	shards s
	bert-train --data s --config "$DATA/man/config.json" --steps 4 --batch 2 --save-every 2 --threads 1 -o run
}

@test "--compat google: a shard of elsewhere is the only fault" {
	shards s --compat google
	bert-shard --vocab "$DATA/man/vocab.txt" --compat google --shards 2 --max-seq-length 16 -o t "$DATA/man/corpus.txt" "$DATA/man/vocab.txt"
	cp t/shard-00000-of-00002.shard s
	exits 3 bert-verify s
	[ "$(grep -c 'fault: ' <<<"$output")" -eq 1 ]
	[[ "${lines[0]}" == "s/shard-00000-of-00002.shard: fault: its recipe is not that of 'manifest.json': "* ]]
}

@test "checkpoints: one line a file, by the run or by themselves" {
	run_of_four
	exits 0 bert-verify run
	[ "${#lines[@]}" -eq 14 ]
	[ "${lines[1]}" = "run/checkpoint-2/model.safetensors: ok, as it was written" ]
	[ "${lines[6]}" = "run/checkpoint-2/manifest.json: ok, 6 files" ]
	[[ "${lines[7]}" == "run/checkpoint-4/config.json: ok"* ]]
	mv run/checkpoint-4 elsewhere
	exits 0 bert-verify elsewhere run/checkpoint-2/ s
	[ "${#lines[@]}" -eq 19 ]
	exits 0 bert-verify -q run
	[ -z "$output" ]
}

@test "checkpoints: a flipped bit in any file, a cut file, a missing one" {
	run_of_four
	c=run/checkpoint-4
	cp -r $c good
	again() { rm -rf $c; cp -r good $c; }
	for f in config.json model.safetensors moments-00000-of-00001.safetensors position.json tokenizer_config.json vocab.txt manifest.json; do
		size=$(stat -c %s $c/$f)
		for ((at = 0; at < size; at += size / 10 + 1)); do
			again
			perl -e 'local $/; open F, "<:raw", $ARGV[1]; $b = <F>; substr($b, $ARGV[0], 1) ^= chr(1 << $ARGV[0] % 8); open G, ">:raw", $ARGV[1]; print G $b' "$at" $c/$f
			exits 3 bert-verify -q run
			says "$c/$f: fault: "
		done
		again
		truncate -s -1 $c/$f
		exits 3 bert-verify -q run
		says "$c/$f: fault: "
		rm $c/$f
		exits 3 bert-verify -q run
		says "$c/$f: fault: missing"
	done
	# What is left of a checkpoint is one by its name; the other files and checkpoints are looked at all the same.
	again
	rm $c/position.json $c/manifest.json
	exits 3 bert-verify run
	says "run/checkpoint-2/manifest.json: ok"
	says "$c/manifest.json: fault: missing"
	says "faults in 1 of 8 files"
	exits 3 bert-verify $c//
	says "$c//manifest.json: fault: missing"
	again
	rm $c/config.json
	truncate -s 100 $c/vocab.txt
	exits 3 bert-verify $c
	says "$c/config.json: fault: missing"
	says "$c/vocab.txt: fault: it has 100 bytes, not "
	says "$c/model.safetensors: ok"
	again
	chmod 0 $c/vocab.txt
	[ -r $c/vocab.txt ] || exits 1 bert-verify $c
}

@test "a full disk fails" {
	shards s
	exits 1 bash -c 'bert-verify s > /dev/full'
}

@test "what memory does not hold is not said to be good" {
	bert-shard --vocab "$DATA/man/vocab.txt" --dupe-factor 300 --max-seq-length 32 --shards 1 -o many "$DATA/man/corpus.txt"
	bert-verify many
	exits 1 bert-verify --memory 1M many
	says "many/shard-00000-of-00001.shard: its documents make more than"
	says "instances, which memory does not hold"
}
