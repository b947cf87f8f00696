# bert-import: instances of other programs.

load helpers

setup_records() {
	bert-shard --vocab "$DATA/man/vocab.txt" --max-seq-length 48 --max-predictions-per-seq 9 --dupe-factor 2 --shards 2 "$@" -o shards "$DATA/man/corpus.txt"
	bert-export --to tfrecord -o records shards
}

import() { bert-import --vocab "$DATA/man/vocab.txt" "$@"; }

need_hdf5() { bert-export --version | grep -q "^with:.* hdf5" || skip "built without HDF5"; }

@test "what was exported comes back, instance by instance" {
	for o in "" "--compat google --whole-word-mask" "--pairs sop" "--pairs none --cross-documents" "--pairs none"; do
		rm -rf shards records back
		# shellcheck disable=SC2086
		setup_records $o
		import -o back records/*.tfrecord
		cmp <(bert-cat shards) <(bert-cat back)
		bert-verify back
		[ "$(bert-stat back | jq '[.documents, .instances] | join(" ")')" = "\"0 $(bert-cat back | wc -l)\"" ]
		[ "$(jq -r '.recipe.rules' back/manifest.json)" = "imported 1" ]
	done
	[ "$(jq -r '[.recipe.pairs, (.shards | length), .corpus.documents] | join(" ")' back/manifest.json)" = "none 2 2" ]
	import --pairs sop -o back2 records/*.tfrecord && false
	rm -rf shards records
	setup_records
	import --pairs sop --name other --compress 0 -o sop records/*.tfrecord
	[ "$(jq -r .recipe.pairs sop/manifest.json)" = sop ]
	bert-verify sop
}

@test "HDF5 comes back, too" {
	need_hdf5
	for o in "" "--pairs none"; do
		rm -rf shards records h back
		# shellcheck disable=SC2086
		setup_records $o
		bert-export --to hdf5 -o h shards
		import -o back h/*.hdf5
		cmp <(bert-cat shards) <(bert-cat back)
		bert-verify back
	done
	head -c 3000 h/shard-00000-of-00002.hdf5 >cut.hdf5
	exits 3 import -o no cut.hdf5
	says "cut.hdf5"
	[ ! -e no ]
}

@test "packed TFRecord is unpacked, several files are several shards" {
	setup_records
	gzip records/*.tfrecord
	import -o back records/*.gz
	[ "$(ls back/*.shard | wc -l)" = 2 ]
	cmp <(bert-cat shards) <(bert-cat back)
}

@test "threads change nothing, nor which fault is named" {
	bert-shard --vocab "$DATA/man/vocab.txt" --max-seq-length 512 --max-predictions-per-seq 76 --dupe-factor 60 --shards 2 -o shards "$DATA/man/corpus.txt"
	bert-export --to tfrecord -o records shards
	for f in tfrecord hdf5; do
		[ $f = tfrecord ] || bert-export --version | grep -q "^with:.* hdf5" || continue
		bert-export --to $f -o $f shards
		import --threads 1 -o $f.one $f/*.$f
		import --threads 3 -o $f.three $f/*.$f
		for s in $f.one/*; do cmp "$s" "$f.three/${s##*/}"; done
		cmp <(bert-cat shards) <(bert-cat $f.three)
	done
	# The later one is in a batch of its own.
	cp records/shard-00000-of-00002.tfrecord bad.tfrecord
	size=$(stat -c %s bad.tfrecord)
	for at in $((size - 3)) $((size / 2)); do
		printf '\125' | dd of=bad.tfrecord bs=1 seek="$at" conv=notrunc status=none
		exits 3 import --threads 1 -o back bad.tfrecord
		one=$output
		exits 3 import --threads 4 -o back bad.tfrecord
		[ "$output" = "$one" ]
		[ ! -e back ]
	done
}

@test "killed at any moment and run again: the same, and what is whole is kept" {
	bert-shard --vocab "$DATA/man/vocab.txt" --max-seq-length 48 --dupe-factor 100 --shards 1 -o shards "$DATA/man/corpus.txt"
	bert-export --to tfrecord -o records shards
	for i in 1 2 3 4 5 6 7; do cp records/shard-00000-of-00001.tfrecord "records/more-$i.tfrecord"; done
	start=$(date +%s%N)
	import --threads 1 -o straight records/*.tfrecord
	took=$((($(date +%s%N) - start) / 1000))
	for share in 20 45 60 70 80 90; do
		timeout --foreground -s KILL "$(awk -v t="$took" -v s="$share" 'BEGIN { printf "%.3f", t * s / 1e8 }')" \
			bert-import --vocab "$DATA/man/vocab.txt" --threads 1 -o killed records/*.tfrecord || true
		for f in killed/*.shard; do [ ! -e "$f" ] || cmp "$f" "straight/${f##*/}"; done
		[ ! -e killed/manifest.json ] || rm -r killed
	done
	import --threads 1 -o killed records/*.tfrecord
	diff -r straight killed
}

# killed CALL N ARGUMENTS...: bert-import, killed in its N-th such call; fails where it made fewer.
killed() { ! strace -f -o /dev/null -e "trace=$1" -e "inject=$1:signal=KILL:when=$2" bert-import --vocab "$DATA/man/vocab.txt" "${@:3}" 2>err; }

@test "killed in any of its steps and run again: the same" {
	export ASAN_OPTIONS=detect_leaks=0	# the leak checker does not work under ptrace
	strace -f -o /dev/null true 2>/dev/null || skip "strace is not here, or may trace nothing"
	setup_records
	for i in 1 2 3; do cp records/shard-00000-of-00002.tfrecord "records/more-$i.tfrecord"; done
	import -o straight records/*.tfrecord
	for call in rename fsync unlink; do
		for n in $(seq 1 40); do
			rm -rf out
			killed $call "$n" -o out records/*.tfrecord || break
			[ ! -e out/manifest.json ] || [ -e out/.import.json ] || { echo "whole, and killed in $call $n"; return 1; }
			for f in out/*.shard; do [ ! -e "$f" ] || cmp "$f" "straight/${f##*/}"; done
			import -o out records/*.tfrecord
			diff -r straight out
		done
		echo "$call: $n"
		[ "$n" -lt 40 ]
		least=5		# a file for each shard
		[ $call != unlink ] || least=1
		[ "$n" -gt $least ]
	done
	# One and the same folder, killed again and again.
	rm -rf out
	for n in 2 3 1 2 4; do
		killed rename "$n" -o out records/*.tfrecord
		[ ! -e out/manifest.json ]
	done
	import -o out records/*.tfrecord
	diff -r straight out
}

@test "a folder stands for its files, without what bert-export says of them" {
	setup_records
	ls records/export.json
	mkdir none
	touch none/.hidden
	import -o one records/*.tfrecord
	import -o out records
	diff -r one out
	exits 1 bert-import --vocab "$DATA/man/vocab.txt" -o other none
	says "'none' holds no files"
	mkdir records/more
	exits 1 bert-import --vocab "$DATA/man/vocab.txt" -o other records
	says "records/more"
	[ ! -e other ] || nothing_in other
}

@test "two at once in one folder: the second one is refused" {
	setup_records
	mkdir out
	exits 1 flock out bert-import --vocab "$DATA/man/vocab.txt" -o out records/*.tfrecord
	says "another bert-import is at work in 'out'"
	exits 1 flock --shared out bert-import --vocab "$DATA/man/vocab.txt" -o out records/*.tfrecord
	nothing_in out
	import -o out records/*.tfrecord
	bert-verify out
}

@test "a run that did not end is gone on with, and by nobody else" {
	setup_records --seed 3
	import -o straight records/*.tfrecord
	mkdir -p half/vocab.txt/full			# so it fails at the end
	exits 1 import -o half records/*.tfrecord
	rm -r half/vocab.txt half/shard-00001-of-00002.shard
	[ -e half/shard-00000-of-00002.shard ]
	[ ! -e half/manifest.json ]
	for o in "--compress 3" "--name other" "--cased" "--pairs sop"; do
		# shellcheck disable=SC2086
		exits 1 import $o -o half records/*.tfrecord
		says "'half' holds shards of another import: "
	done
	exits 1 import -o half records/shard-00001-of-00002.tfrecord records/shard-00000-of-00002.tfrecord
	says "'half' holds shards of another import: inputs"
	exits 1 import -o half records/shard-00000-of-00002.tfrecord
	cp -r half damaged
	size=$(stat -c %s half/shard-00000-of-00002.shard)
	printf '\125' | dd of=damaged/shard-00000-of-00002.shard bs=1 seek=$((size / 2)) conv=notrunc status=none
	exits 0 import -v -o half records/*.tfrecord
	says "2 shards, 1 there already"
	diff -r straight half
	exits 0 import -v -o damaged records/*.tfrecord
	says "2 shards, 0 there already"
	diff -r straight damaged
	exits 1 import -o half records/*.tfrecord
	says "'half' holds shards: choose another folder"
}

@test "damage is found before anything is written" {
	setup_records
	r=records/shard-00001-of-00002.tfrecord
	size=$(stat -c %s $r)
	for at in 3 14 700 $((size - 2)); do
		cp $r bad.tfrecord
		printf '\125' | dd of=bad.tfrecord bs=1 seek="$at" conv=notrunc status=none
		cmp -s $r bad.tfrecord && continue
		exits 3 import -o back records/shard-00000-of-00002.tfrecord bad.tfrecord
		says "bad.tfrecord"
		[ ! -e back ]
	done
	head -c $((size - 7)) $r >bad.tfrecord
	exits 3 import -o back bad.tfrecord
	says "ends early"
	printf '\125' | dd of=bad.tfrecord bs=1 seek=2 conv=notrunc status=none
	exits 3 import -o back bad.tfrecord
	says "'bad.tfrecord' is neither TFRecord nor HDF5, or damaged at its very beginning"
	head -c 7 $r >bad.tfrecord
	exits 3 import -o back bad.tfrecord
	says "'bad.tfrecord' ends early"
	[ ! -e back ]
}

@test "what is no TFRecord is told with what it looks like" {
	looks() {	# looks FILE LIKE
		exits 3 import -o back "$1"
		[ "$output" = "bert-import: '$1' is neither TFRecord nor HDF5: it looks like $2" ] || { echo "$output"; return 1; }
		[ ! -e back ]
	}
	setup_records
	bert-export --to megatron -o megatron shards
	bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs -o a.tok "$DATA/man/corpus.txt"
	looks records/export.json JSON
	looks "$DATA/man/documents.jsonl" JSON
	looks "$DATA/man/vocab.txt" text
	looks "$DATA/man/corpus.txt" text
	looks "$DATA/man/model/model.safetensors" safetensors
	looks megatron/shard-00000-of-00002.idx "the .idx of Megatron's data"
	looks shards/shard-00000-of-00002.shard "a shard, which needs no import"
	looks a.tok "token documents, of which bert-shard makes shards"
	printf '\223NUMPY\1\0v\0{' >array
	looks array "a NumPy array"
	printf '[\n1, 2]' >list
	looks list JSON
	printf 'hi' >short
	looks short text
	gzip -c short >short.gz
	looks short.gz text
	for n in 61 62 63 64; do
		perl -e 'print "x" x $ARGV[0], "\xe2\x82\xac" x 9' "$n" >cut
		looks cut text
	done
	for bytes in '\0\0\0\0\0\0\0\0\0\0\0\0\0' 'text with a \0 in it' 'text with a \177 in it' 'text that \377\377\377\377\377 is none'; do
		# shellcheck disable=SC2059	# the escapes are to be made bytes
		printf "$bytes" >binary
		exits 3 import -o back binary
		says "'binary' is neither TFRecord nor HDF5, or damaged"
	done
}

@test "HDF5 of something else is told with what it holds" {
	need_hdf5
	setup_records
	bert-export --to hdf5 -o h shards
	perl -pe 'BEGIN { $/ = undef } s/input_ids/input_idz/' h/shard-00000-of-00002.hdf5 >other.hdf5
	exits 3 import -o back other.hdf5
	says "'other.hdf5' is HDF5, but not of instances as NVIDIA's trainers read them: it has no data set 'input_ids', but 'input_idz', 'input_mask', "
	says ", ..."
	[ "${#lines[@]}" -eq 1 ]
	[ ! -e back ]
}

@test "what is not of this vocabulary, or of other lengths, is refused with its place" {
	setup_records
	head -n 500 "$DATA/man/vocab.txt" >small.txt
	exits 3 bert-import --vocab small.txt -o back records/*.tfrecord
	says "instance"
	says "is not below the vocabulary's size 500"
	grep -vF '[MASK]' "$DATA/man/vocab.txt" >no-mask
	exits 3 bert-import --vocab no-mask -o back records/*.tfrecord
	says "the vocabulary 'no-mask' has no [MASK]"
	{ echo '[NEW]'; cat "$DATA/man/vocab.txt"; } >shifted.txt
	exits 3 bert-import --vocab shifted.txt -o back records/*.tfrecord
	says "instance 0: it does not begin with [CLS]"
	bert-shard --vocab "$DATA/man/vocab.txt" --max-seq-length 64 -o other "$DATA/man/corpus.txt"
	bert-export --to tfrecord -o long other
	exits 1 import -o back records/shard-00000-of-00002.tfrecord long/*.tfrecord
	says "of length 64"
	: >empty
	exits 1 import -o back empty
	says "holds no instances"
	[ ! -e back ]
	import -o back records/*.tfrecord
	exits 1 import -o back records/*.tfrecord
	says "'back' holds shards"
	exits 2 import -o back2 -
	exits 2 import records/*.tfrecord
	exits 2 bert-import -o back2 records/*.tfrecord
	exits 2 import --name a/b -o back2 records/*.tfrecord
	exits 1 import -o back2 nothing
	mkfifo pipe
	exits 1 timeout 20 bert-import --vocab "$DATA/man/vocab.txt" -o back2 pipe
	says "'pipe' is no regular file"
	exits 1 import -o back2 .
}

@test "numbers that are none of 32 bits, masks and positions with holes, tokens after the end are refused" {
	need_hdf5
	setup_records
	bert-export --to hdf5 --compress 0 -o h shards
	f=h/shard-00000-of-00002.hdf5
	ids=$(bert-cat --count 1 shards | jq -r '.input_ids | map(tostring) | join(" ")')
	# shellcheck disable=SC2016	# the variables are perl's
	change() { perl -0777 -e 'open F, "<:raw", $ARGV[0] or die; $_ = <F>; eval $ARGV[1]; die $@ if $@; open F, ">:raw", "bad.hdf5" or die; print F $_' "$@"; }
	change $f 'my $row = pack "V*", split / /, "'"$ids"'"; my $at = index $_, $row; die if $at < 0; substr($_, $at + 4, 4) = pack "l<", -5'
	exits 3 import -o back bad.hdf5
	says "bad.hdf5': 'input_ids' has a number, in instances 0 to "
	n=$(bert-cat shards/shard-00000-of-00002.shard | jq '.input_ids | length' | sort -n | head -n 1)
	[ "$n" -lt 47 ]
	change $f 'my $row = "\1" x '"$n"' . "\0" x (48 - '"$n"'); my $at = index $_, $row; die if $at < 0; substr($_, $at + 47, 1) = "\1"'
	exits 3 import -o back bad.hdf5
	says "its input_mask is not ones, then zeros: 1 at position 47"
	change $f 'my $row = "\1" x '"$n"' . "\0" x (48 - '"$n"'); my $at = index $_, $row; die if $at < 0; substr($_, $at + '"$n"' - 1, 1) = "\0"'
	exits 3 import -o back bad.hdf5
	says "its input_mask ends at position $((n - 1)), and position $((n - 1)) has id "
	at=$(bert-cat --count 1 shards | jq -r '.masked_lm_positions | map(tostring) | join(" ")')
	change $f 'my $row = pack "V*", split / /, "'"$at"'"; my $at = index $_, $row; die if $at < 0; substr($_, $at + 4, 4) = pack "V", 0'
	exits 3 import -o back bad.hdf5
	says "bad.hdf5': instance 0: its masked positions end after 1, and a later one is "
	[ ! -e back ]
}

@test "files with more room for masks than for tokens, as bins of length have" {
	bert-shard --vocab "$DATA/man/vocab.txt" --max-seq-length 48 --max-predictions-per-seq 40 -o shards "$DATA/man/corpus.txt"
	for f in tfrecord hdf5; do
		[ $f = tfrecord ] || bert-export --version | grep -q "^with:.* hdf5" || continue
		bert-export --to $f --bin-size 32 -o $f shards
		import -o $f.back $f/shard-00000-of-00001.32.$f
		bert-verify $f.back
		cmp <(bert-cat $f.back) <(bert-cat shards | jq -c 'select((.input_ids | length) <= 32)')
		[ "$(jq -c '.recipe | [.max_seq_length, .max_predictions_per_seq]' $f.back/manifest.json)" = "[32,32]" ]
	done
}
