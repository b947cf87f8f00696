# bert-export: the files of other trainers.

load helpers

setup_shards() {
	bert-shard --vocab "$DATA/man/vocab.txt" --max-seq-length 48 --max-predictions-per-seq 9 --dupe-factor 2 --shards 2 "$@" -o shards "$DATA/man/corpus.txt"
}

# padded FOLDER [OPTIONS]: its instances as the features of create_pretraining_data.py, of lengths 48 and 9.
padded() {
	bert-cat "$@" | jq -c 'def pad($n): . + [range($n - length) | 0];
		{ input_ids: (.input_ids | pad(48)), input_mask: (.input_ids | map(1) | pad(48)),
		  masked_lm_ids: (.masked_lm_ids | pad(9)), masked_lm_positions: (.masked_lm_positions | pad(9)),
		  masked_lm_weights: (.masked_lm_ids | map(1) | pad(9)), next_sentence_labels: [.next_sentence_label],
		  segment_ids: (.segment_ids | pad(48)) }'
}

need_hdf5() { bert-export --version | grep -q "^with:.* hdf5" || skip "built without HDF5"; }

@test "TFRecord holds what bert-cat shows, padded" {
	setup_shards
	bert-export --to tfrecord -o out shards
	[ "$(ls out | tr '\n' ' ')" = "export.json shard-00000-of-00002.tfrecord shard-00001-of-00002.tfrecord " ]
	perl "$TOP/tests/cli/tfrecord.pl" out/shard-00000-of-00002.tfrecord >got
	perl "$TOP/tests/cli/tfrecord.pl" out/shard-00001-of-00002.tfrecord >>got
	padded shards | cmp - got
	[ "$(jq -c '[.to, .epoch, (.files | map(.records) | add), .recipe.max_seq_length]' out/export.json)" = "[\"tfrecord\",null,$(wc -l <got),48]" ]
	bert-export --to tfrecord --threads 3 -o again shards
	diff -r out again
}

@test "dynamic masks are those of the epoch that is asked for" {
	for o in "" "--whole-word-mask"; do
		rm -rf shards out other
		# shellcheck disable=SC2086
		setup_shards --masking dynamic --dupe-factor 1 $o
		exits 1 bert-export --to tfrecord -o out shards
		says "say by --epoch"
		nothing_in out
		bert-export --to tfrecord --epoch 3 -o out shards
		bert-export --to tfrecord --epoch 4 -o other shards
		not cmp -s out/shard-00000-of-00002.tfrecord other/shard-00000-of-00002.tfrecord
		for f in out/*.tfrecord; do perl "$TOP/tests/cli/tfrecord.pl" "$f"; done >got
		padded --epoch 3 shards | cmp - got
	done
	rm shards/vocab.txt
	exits 1 bert-export --to tfrecord --epoch 3 -o out shards
	says "name it by --vocab"
	bert-export --to tfrecord --epoch 3 --vocab "$DATA/man/vocab.txt" -o again shards
	diff -r out again
}

@test "full sentences have one type and no label" {
	setup_shards --pairs none --cross-documents
	bert-export --to tfrecord -o out shards
	for f in out/*.tfrecord; do perl "$TOP/tests/cli/tfrecord.pl" "$f"; done >got
	padded shards | cmp - got
}

# bins FORM EXTENSION: each file of bins/ by its length comes back as the shards' instances of that length, in their order.
bins() {
	local size=$1 form=$2 from to=0
	while [ "$to" -lt 48 ]; do
		from=$((to + 1)) to=$((to + size < 48 ? to + size : 48))
		for k in 0 1; do
			bert-cat shards/shard-0000$k-of-00002.shard | jq -c "select(.input_ids | length >= $from and length <= $to) | [.input_ids, .segment_ids, .masked_lm_positions, .masked_lm_ids, .next_sentence_label]" >want
			if [ ! -s want ]; then
				[ ! -e "bins/shard-0000$k-of-00002.$to.$form" ]
				continue
			fi
			rm -rf back
			bert-import --vocab "$DATA/man/vocab.txt" -o back "bins/shard-0000$k-of-00002.$to.$form"
			bert-cat back | jq -c '[.input_ids, .segment_ids, .masked_lm_positions, .masked_lm_ids, .next_sentence_label]' | cmp - want
			[ "$(jq .recipe.max_seq_length back/manifest.json)" = "$to" ]
		done
	done
	[ "$(jq '.files | map(.records) | add' bins/export.json)" = "$(bert-cat shards | wc -l)" ]
	[ "$(jq -r '.files[] | "\(.name) \(.length)"' bins/export.json | sort)" = "$(cd bins && ls -- *."$form" | sed -E 's/.*\.([0-9]+)\.[a-z0-9]+$/& \1/' | sort)" ]
}

@test "bins: a file for each length, which holds those and no more" {
	setup_shards --short-seq-prob 0.3
	for size in 8 13 48; do
		rm -rf bins again
		bert-export --to tfrecord --bin-size $size --threads 1 -o bins shards
		bins $size tfrecord
		bert-export --to tfrecord --bin-size $size --threads 3 -o again shards
		diff -r bins again
	done
	exits 1 bert-export --to tfrecord --bin-size 1 -o many shards
	says "bins of 1 tokens are 48 up to the 48 of"
	exits 2 bert-export --to megatron --bin-size 16 -o many shards
	nothing_in many
	exits 2 bert-export --to tfrecord --bin-size -1 -o many shards
}

@test "bins of HDF5, of dynamic masks too" {
	need_hdf5
	setup_shards --short-seq-prob 0.3
	bert-export --to hdf5 --bin-size 16 --threads 2 -o bins shards
	bins 16 hdf5
	rm -rf shards
	setup_shards --short-seq-prob 0.3 --masking dynamic --dupe-factor 1
	bert-export --to hdf5 --bin-size 20 --epoch 2 -o hdf5 shards
	bert-export --to tfrecord --bin-size 20 --epoch 2 -o records shards
	for f in hdf5/*.hdf5; do
		rm -rf a b
		bert-import --vocab "$DATA/man/vocab.txt" -o a "$f"
		f=${f##*/}
		bert-import --vocab "$DATA/man/vocab.txt" -o b "records/${f%.hdf5}.tfrecord"
		bert-diff a b
	done
}

# numbers FORMAT SKIP COUNT FILE: as od reads them, in one line.
numbers() { od -An -v -t "$1" -j "$2" -N "$3" "$4" | tr -s ' \n' ' ' | sed 's/^ //; s/ $//'; }

@test "Megatron: sentences and documents of token documents" {
	{ cat "$DATA/man/corpus.txt"; printf '\n\342\200\213\n\nalice was\n\342\200\213\nvery tired\n'; } >in	# lines without tokens
	bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs -o in.tok in
	bert-export --to megatron -o out in.tok
	bert-cat in.tok | jq -c '[.sentences[] | select(length > 0)] | select(length > 0)' >docs
	n=$(jq -s 'map(length) | add' docs) d=$(wc -l <docs)
	[ "$(head -c 9 out/in.idx | od -An -c | tr -d ' ')" = 'MMIDIDX\0\0' ]
	[ "$(numbers u8 9 8 out/in.idx)" = 1 ]
	[ "$(numbers u1 17 1 out/in.idx)" = 8 ]
	[ "$(numbers u8 18 16 out/in.idx)" = "$n $((d + 1))" ]
	[ "$(numbers d4 34 $((4 * n)) out/in.idx)" = "$(jq -s -r 'add | map(length) | join(" ")' docs)" ]
	[ "$(numbers d8 $((34 + 4 * n)) $((8 * n)) out/in.idx)" = "$(jq -s -r '[foreach (add | .[] | length) as $l ({n: 0}; {at: .n, n: (.n + 2 * $l)}; .at)] | join(" ")' docs)" ]
	[ "$(numbers d8 $((34 + 12 * n)) $((8 * d + 8)) out/in.idx)" = "$(jq -s -r '[0] + [foreach .[] as $x (0; . + ($x | length); .)] | join(" ")' docs)" ]
	[ "$(stat -c %s out/in.idx)" = $((34 + 12 * n + 8 * d + 8)) ]
	[ "$(numbers u2 0 100000000 out/in.bin)" = "$(jq -s -r 'add | add | join(" ")' docs)" ]
}

@test "Megatron: instances without their masks" {
	setup_shards --masking dynamic --dupe-factor 1
	bert-export --to megatron -o out shards/shard-00000-of-00002.shard
	bert-cat shards/shard-00000-of-00002.shard >shown
	[ "$(numbers u2 0 100000000 out/shard-00000-of-00002.bin)" = "$(jq -r '.input_ids[] | select(. != 2 and . != 3)' shown | tr '\n' ' ' | sed 's/ $//')" ]
	[ "$(numbers u8 18 16 out/shard-00000-of-00002.idx)" = "$((2 * $(wc -l <shown))) $(($(wc -l <shown) + 1))" ]
	rm -rf shards
	setup_shards
	bert-export --to megatron -o static shards/shard-00000-of-00002.shard
	cmp <(numbers u2 0 100000000 static/shard-00000-of-00002.bin) <(numbers u2 0 100000000 out/shard-00000-of-00002.bin) || true
}

@test "HDF5 is written, and the same for any threads" {
	need_hdf5
	setup_shards
	bert-export --to hdf5 --threads 1 -o out shards
	[ "$(ls -A out | tr '\n' ' ')" = "export.json shard-00000-of-00002.hdf5 shard-00001-of-00002.hdf5 " ]
	[ "$(head -c 4 out/shard-00000-of-00002.hdf5 | tail -c 3)" = HDF ]
	bert-export --to hdf5 --compress 0 --threads 3 -o plain shards
	[ "$(stat -c %s plain/shard-00000-of-00002.hdf5)" -gt "$(stat -c %s out/shard-00000-of-00002.hdf5)" ]
}

@test "what cannot be exported is refused by name" {
	setup_shards
	exits 2 bert-export -o out shards
	exits 2 bert-export --to tfrecord shards
	exits 2 bert-export --to tfrecord -o - shards
	exits 2 bert-export --to tfrecord -o out
	exits 2 bert-export --to parquet -o out shards
	exits 1 bert-export --to tfrecord -o out nothing
	says "nothing"
	bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs -o in.tok "$DATA/man/corpus.txt"
	exits 1 bert-export --to tfrecord -o out in.tok
	says "'in.tok' holds token documents"
	bert-shard --vocab "$DATA/man/vocab.txt" --max-seq-length 64 -o other "$DATA/man/corpus.txt"
	exits 1 bert-export --to tfrecord -o out shards other
	says "max_seq_length is 64, not 48"
	mkdir copy
	cp shards/*.shard copy
	exits 1 bert-export --to tfrecord -o out shards copy
	says "two of the files are named 'shard-00000-of-00002'"
	printf '\1' | dd of=shards/shard-00001-of-00002.shard bs=1 seek=900 conv=notrunc status=none
	exits 3 bert-export --to tfrecord -o bad shards
	[ ! -e bad/shard-00001-of-00002.tfrecord ]
	[ ! -e bad/export.json ]
}

@test "an epoch is asked for where it matters only" {
	setup_shards
	exits 1 bert-export --to tfrecord --epoch 3 -o out shards
	says "has static masks, which are the same in every epoch: leave out --epoch"
	nothing_in out
	exits 2 bert-export --to megatron --epoch 3 -o out shards
	says "--epoch does not go with --to megatron"
}

@test "what a killed run left is removed" {
	setup_shards
	bert-export --to tfrecord -o out shards
	ls -A out >before
	: >out/.other.tfrecord.999999999.0.tmp
	bert-export --to tfrecord -o out shards
	ls -A out | diff before -
}

@test "a full disk leaves nothing half-made" {
	setup_shards
	unshare -rm true 2>/dev/null || skip "unshare -rm is refused here"
	mkdir small
	for to in tfrecord megatron $(bert-export --version | sed -nE 's/^with:.* (hdf5).*/\1/p'); do
		run unshare -rm bash -c 'mount -t tmpfs -o size=4k tmpfs small && bert-export --to "$1" -o small/out shards; echo "status $?"; find small -type f -printf "remains: %p\\n"' - "$to"
		says "status 1"
		says "small/out/"
		[[ "$output" != *remains* ]]
	done
}

@test "a folder that lacks shards is refused before anything is written" {
	setup_shards
	local name=shards/shard-00001-of-00002.shard
	mv "$name" kept
	exits 1 bert-export --to tfrecord -o out shards
	says "'shards' is not complete: 1 of its 2 shards is missing or of another size, number 1 (bert-shard --status shards tells more)"
	[ "${#lines[@]}" -eq 1 ]
	cp shards/shard-00000-of-00002.shard "$name"
	exits 3 bert-export --to tfrecord -o out shards
	says "of another size"
	mv shards/manifest.json m.json
	rm "$name"
	exits 1 bert-export --to tfrecord -o out shards
	says "number 1"
	mkdir shards/.work
	exits 1 bert-export --to tfrecord -o out shards
	says "'shards' is not finished"
	[ ! -e out ]
	bert-export --to tfrecord -o one shards/shard-00000-of-00002.shard
	rmdir shards/.work
	cp shards/shard-00000-of-00002.shard "$name"
	exits 3 bert-export --to tfrecord -o out shards
	says "'$name' is shard 0 of 2, in the place of shard 1 of 2"
	[ ! -e out/export.json ]
}
