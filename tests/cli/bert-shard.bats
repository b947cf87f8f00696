# bert-shard: documents to shards.

load helpers

@test "JSON lines: the shards of the same text, with ids and titles in their tables" {
	local i d="$DATA/man/documents.jsonl" args=(--vocab "$DATA/man/vocab.txt" --max-seq-length 48 --dupe-factor 2)
	jq -r '.text + "\n"' "$d" >text
	jq -c '{text}' "$d" >bare.jsonl
	bert-shard "${args[@]}" -o text-out text
	bert-shard "${args[@]}" --from jsonl -o bare bare.jsonl
	cmp text-out/shard-00000-of-00001.shard bare/shard-00000-of-00001.shard
	bert-shard "${args[@]}" --from jsonl -o out "$d"
	bert-verify text-out bare out
	cmp <(bert-cat text-out) <(bert-cat out)
	[ "$(bert-trace out:0 | jq -r .id | head -n 1)" != null ]
	# through token documents, a pipe, packed, in parts, in any order, divided anyhow, with little memory: the same bytes
	bert-tokenize --vocab "$DATA/man/vocab.txt" --from jsonl --to docs "$d" | bert-shard "${args[@]}" -o tok
	bert-shard "${args[@]}" --from jsonl -o pipe <"$d"
	gzip -c "$d" >d.gz
	bert-shard "${args[@]}" --from jsonl --memory 16M -o packed d.gz
	tac "$d" >back
	bert-shard "${args[@]}" --from jsonl -o back-out back
	head -c 2000 "$d" | sed '$d' >one
	tail -n +"$(($(wc -l <one) + 1))" "$d" >two
	for i in 0 1 2 3 4 5 6; do
		bert-shard "${args[@]}" --from jsonl --stage index --part $i/7 -o parts one two
	done
	bert-shard "${args[@]}" --from jsonl --stage plan -o parts one two
	exits 1 bert-shard "${args[@]}" --from text --stage write -o parts one two
	bert-shard "${args[@]}" --from jsonl --stage write -o parts one two
	for i in tok pipe packed back-out parts; do
		cmp out/shard-00000-of-00001.shard $i/shard-00000-of-00001.shard
	done
	bert-shard "${args[@]}" --compat google -o google-text text
	bert-shard "${args[@]}" --compat google --from jsonl -o google "$d"
	cmp <(bert-cat google-text) <(bert-cat google)
}

@test "JSON lines that are none, and JSON lines that were not announced" {
	local args=(--vocab "$DATA/man/vocab.txt" -o out)
	{ head -n 2 "$DATA/man/documents.jsonl"; echo; echo '{"id": true, "text": "a"}'; } >bad
	exits 3 bert-shard "${args[@]}" --from jsonl bad
	says "'bad', line 4: \"id\" is a constant, neither a string nor a number"
	exits 2 bert-shard "${args[@]}" bad
	says "'bad' looks like JSON lines: give --from jsonl, or --from text"
	exits 2 bert-shard "${args[@]}" <bad
	exits 2 bert-shard "${args[@]}" <(cat bad)
	bert-shard "${args[@]}" --from text "$DATA/man/corpus.txt" bad
	exits 1 bert-shard "${args[@]}" --from jsonl "$DATA/man/corpus.txt" bad
	says "options.from is absent, not \"jsonl\""
}

# documents FIRST N: N documents of 1 to 12 sentences, made of the test vocabulary's words; number decides the text.
documents() {
	awk -v first="$1" -v n="$2" 'BEGIN { m = split("alice was beginning to get very tired of sitting by her sister on the bank and having nothing do", w, " ")
		for (d = first; d < first + n; d++) { s = 1 + d * 7 % 12
			for (i = 0; i < s; i++) { k = 3 + (d * 13 + i * 5) % 29; line = ""
				for (j = 0; j < k; j++) line = line " " w[1 + (d * 31 + i * 17 + j * j * 7 + int(d / 18)) % m] (j % 5 ? "" : d)
				print substr(line, 2) "." }
			print "" } }'
}

# shard ARGUMENTS...: with the test vocabulary.
shard() { bert-shard --vocab "$DATA/man/vocab.txt" "$@"; }

# same A B: the same shards.
same() {
	local f
	[ "$(ls "$1" | grep -c '\.shard$')" -gt 0 ]
	[ "$(ls "$1" | grep '\.shard$')" = "$(ls "$2" | grep '\.shard$')" ]
	for f in "$1"/*.shard; do cmp "$f" "$2/${f##*/}"; done
}

# flip FILE OFFSET: another byte there.
flip() {
	local byte
	byte=$(od -An -tu1 -j "$2" -N 1 "$1")
	printf "\\$(printf %03o $((byte ^ 16)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# no_leftovers DIR: neither unfinished files nor work.
no_leftovers() { [ -z "$(find "$1" -name '.*' ! -name . ! -path "$1")" ]; }

# private COMMAND: whether mounts of our own may be made, else the test is skipped.
need_mounts() { unshare -rm true 2>/dev/null || skip "unshare -rm is refused here"; }

@test "shards, vocabulary and manifest; a second run does nothing" {
	documents 0 300 >in
	shard --shards 3 -o out in
	[ "$(ls -A out | tr '\n' ' ')" = "manifest.json shard-00000-of-00003.shard shard-00001-of-00003.shard shard-00002-of-00003.shard vocab.txt " ]
	cmp out/vocab.txt "$DATA/man/vocab.txt"
	bert-verify out
	find out -printf '%p %T@ %i\n' | sort >before
	shard --shards 3 -o out in
	cmp before <(find out -printf '%p %T@ %i\n' | sort)
}

@test "threads, memory, order, division and packing of the input change nothing" {
	documents 0 600 >in
	documents 0 5 >>in				# equal documents
	shard --shards 4 --threads 1 -o one in
	shard --shards 4 --threads 3 -o three in
	same one three
	shard --shards 4 --memory 16M -o little in
	same one little
	shard --shards 4 -o stdin <in
	same one stdin
	awk 'BEGIN { RS = ""; ORS = "\n\n" } { d[NR % 7] = d[NR % 7] $0 ORS } END { for (i in d) printf "%s", d[i] }' in >mixed
	head -n 1201 mixed >a
	tail -n +1202 mixed | gzip >b.gz
	shard --shards 4 -o mixed.out a b.gz
	same one mixed.out
	bert-verify one mixed.out
}

@test "parts make what one run makes, in any order" {
	documents 0 500 >a
	documents 500 40 >b
	shard --shards 5 -o one a b
	for i in 2 0 1; do shard --shards 5 --stage index --part "$i/3" -o parts a b; done
	exits 0 bert-shard --status -o parts
	says "index: 3 of 3 parts"
	says "plan: missing"
	shard --shards 5 --stage plan -o parts a b
	for i in 3 0; do shard --shards 5 --stage write --part "$i/4" -o parts a b; done
	exits 0 bert-shard --status parts
	says "write: 3 of 5 shards, missing: 1 2"
	[ ! -e parts/manifest.json ]
	SLURM_ARRAY_TASK_ID=12 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_COUNT=4 shard --shards 5 --stage write --part auto -o parts a b
	shard --shards 5 --stage write --part 1/4 -o parts a b
	same one parts
	cmp one/manifest.json parts/manifest.json
	no_leftovers parts
	exits 0 bert-shard --status parts
	says "manifest: there"
}

@test "all parts together read little more than there is, however many there are" {
	[ -r "/proc/$$/io" ] || skip "the system does not count what is read"
	documents 0 2000 >some
	for i in 1 2 3 4 5 6 7 8; do sed "s/^./$i &/" some; done >in
	cat >run <<-'END'
		shard() { bert-shard --vocab "$DATA/man/vocab.txt" --dupe-factor 1 --threads 1 "$@"; }
		bytes_read() { sed -n 's/^rchar: //p' "/proc/$$/io"; }
		none=$(bytes_read)
		for ((i = 0; i < 24; i++)); do shard --version >one; done
		before=$(bytes_read)
		for ((i = 0; i < 16; i++)); do shard $1 --stage index --part "$i/16" -o out in || exit; done
		middle=$(bytes_read)
		for ((i = 0; i < 8; i++)); do if ((!i)); then shard $1 --stage plan -o out in || exit; fi
			shard $1 --stage write --part "$i/8" -o out in || exit; done
		echo "$((middle - before - 2 * (before - none) / 3)) $(($(bytes_read) - middle - (before - none) / 3)) $(ls out/*.shard | wc -l)"
	END
	for o in "--shards 64" "--shards 48" "--shard-size 64K"; do
		rm -rf out
		if [[ "$o" = --shard-size* ]]; then		# many documents, for many shards
			seq 170000 | sed 's/.*/alice was & very tired of sitting by her sister on the bank./; a\\' >in
		fi
		size=$(stat -c %s in)
		read -r index write shards <<<"$(bash run "$o")"
		echo "$o: of $size bytes of text, index read $index, write $write for $shards shards"
		[ "$shards" -ge 16 ]
		[ "$index" -lt $((2 * size)) ]
		[ "$write" -lt $((2 * size)) ]
		shard $o --dupe-factor 1 -o "one$o" in
		same "one$o" out
	done
}

# traced LOG COMMAND...: which bytes it reads. Leaks cannot be looked for meanwhile.
traced() { ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" strace -f -qq -y -a 1 -s 0 -e trace=read,pread64,preadv,readv -o "$@"; }
# read_of NAME LOG...: how many bytes of files whose path holds that.
read_of() { awk -v name="$1" '/^[0-9]+ +p?readv?(64)?\([0-9]+</ && index($0, name) && $NF > 0 { n += $NF } END { printf "%d\n", n }' "${@:2}"; }
can_trace() { strace -f -o /dev/null true 2>/dev/null || skip "strace is not here, or may trace nothing"; }

@test "of a small corpus in many parts no more is read than of a large one" {
	local i o size input index
	can_trace
	documents 0 20000 | head -c 2000000 >text
	jq -Rsc 'split("\n\n") as $d | range(0; $d | length; 30) | { id: "\(.)", text: ($d[. : . + 30] | join("\n")) }' text >jsonl
	bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs -o tok text
	for o in "text" "--from jsonl jsonl" "tok"; do
		rm -rf out log
		mkdir log
		touch "${o##* }"			# it changed just now
		# shellcheck disable=SC2086
		for ((i = 0; i < 50; i++)); do
			traced "log/index-$i" bert-shard --vocab "$DATA/man/vocab.txt" --dupe-factor 1 --shards 10 --threads 1 --stage index --part $i/50 -o out $o
		done
		# shellcheck disable=SC2086
		traced log/plan bert-shard --vocab "$DATA/man/vocab.txt" --dupe-factor 1 --shards 10 --stage plan -o out $o
		# shellcheck disable=SC2086
		for ((i = 0; i < 10; i++)); do
			traced "log/write-$i" bert-shard --vocab "$DATA/man/vocab.txt" --dupe-factor 1 --shards 10 --threads 1 --stage write --part $i/10 -o out $o
		done
		size=$(stat -c %s "${o##* }")
		input=$(read_of "/${o##* }>" log/*)
		index=$(read_of /index- log/*)
		echo "$o: of $size bytes $input were read, and $index of the index"
		[ "$input" -ge "$size" ]		# it was counted
		[ "$index" -ge $((size / 2)) ]
		[ "$input" -le $((1100000 + size * 3 / 2)) ]	# the sample, all once, and what of a part's last document is beyond it
		[ "$((input + index))" -lt $((4 * size)) ]
		# shellcheck disable=SC2086
		shard --dupe-factor 1 --shards 10 -o "one-${o##* }" $o
		same "one-${o##* }" out
	done
}

@test "many parts of very little, whose documents are longer than they" {
	local i o
	can_trace
	documents 0 300 | head -c 100000 >text
	awk '/./ && ++n % 40 { print; next } /./' text >long		# documents of some 40 sentences
	jq -Rsc 'split("\n\n")[] | { text: . }' long >jsonl
	for o in "text" "long" "--from jsonl jsonl"; do
		rm -rf out log
		mkdir log
		touch "${o##* }"
		# shellcheck disable=SC2086
		for ((i = 500; i < 600; i++)); do		# a tenth of them
			traced "log/$i" bert-shard --vocab "$DATA/man/vocab.txt" --threads 1 --stage index --part $i/1000 -o out $o
		done
		size=$(stat -c %s "${o##* }")
		echo "$o: of $size bytes $(read_of "/${o##* }>" log/*) were read"
		[ "$(read_of "/${o##* }>" log/*)" -lt $((size + 4 * size / 10)) ]	# the sample is all of it
	done
}

@test "parts that come at once sample the input once" {
	local i pids=()
	can_trace
	documents 0 20000 | head -c 3000000 >in
	for ((i = 0; i < 6; i++)); do
		traced "log-$i" bert-shard --vocab "$DATA/man/vocab.txt" --dupe-factor 1 --threads 1 --stage index --part $i/6 -o out in &
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i"; done
	[ "$(grep -h 'pread64.*/in>.* = 4096$' log-* | wc -l)" -eq 256 ]
	touch -d 2020-01-01 in				# what its mark told is no more, and its sample is taken and noted once more
	for ((i = 0; i < 3; i++)); do
		traced "more-$i" bert-shard --vocab "$DATA/man/vocab.txt" --dupe-factor 1 --threads 1 --stage index --part $i/6 -o out in
	done
	[ "$(grep -h 'pread64.*/in>.* = 4096$' more-* | wc -l)" -eq 256 ]
}

@test "ten terabytes in one part are refused before anything is read" {
	truncate -s 10T in 2>/dev/null || skip "the file system has no files as large"
	exits 1 shard --memory 64M --stage index --part 0/1 -o out in
	says "part 0/1 is too large for --memory"
	says "or make more parts"
}

@test "input that changed between stages is refused, though its size and date did not" {
	documents 0 300 >in
	shard --shards 3 --stage index --part 0/2 -o out in
	cp -p in was
	flip in 100
	touch -r was in
	exits 1 shard --shards 3 --stage index --part 1/2 -o out in
	says "from other input"
	cp -p was in
	shard --shards 3 --stage index --part 1/2 -o out in
}

@test "a plain run goes on where stages stopped" {
	documents 0 200 >in
	shard --shards 3 -o one in
	for i in 0 1; do shard --shards 3 --stage index --part "$i/2" -o two in; done
	shard --shards 3 --stage plan -o two in
	shard --shards 3 --stage write --part 1/3 -o two in
	shard --shards 3 -o two in
	same one two
}

@test "stages say what is missing" {
	documents 0 50 >in
	exits 1 shard --stage plan -o out in
	says "parts are missing"
	shard --stage index --part 1/3 -o out in
	exits 1 shard --stage plan -o out in
	says "parts are missing: 0/3 2/3"
	exits 1 shard --stage write --part 0/2 -o out in
	says "no plan"
}

@test "a damaged part of the index is named, told of by --status, and made again" {
	documents 0 300 >in
	shard --shards 2 -o good in
	shard --shards 2 --stage index --part 0/2 -o out in
	shard --shards 2 --stage index --part 1/2 -o out in
	shard --shards 2 --stage plan -o out in
	cp -r out whole
	flip out/.work/index-00001-of-00002.tok 400
	exits 0 bert-shard --status out
	says "index: 1 of 2 parts, missing: 1"
	exits 3 shard --shards 2 --stage write -o out in
	[[ "$output" =~ ^"bert-shard: 'out/.work/index-00001-of-00002.tok': block "[^\']*": run --stage index --part 1/2 again"$ ]]
	cp -r out plain
	exits 0 shard --shards 2 --stage index --part 1/2 -o out in
	cmp {whole,out}/.work/index-00001-of-00002.tok
	shard --shards 2 --stage write -o out in
	diff -r good out
	shard --shards 2 -o plain in
	diff -r good plain
	rm whole/.work/index-00000-of-00002.tok
	shard --shards 2 -o whole in
	diff -r good whole
}

@test "--status of an unfinished folder counts a cut or damaged shard as missing" {
	documents 0 300 >in
	for st in index plan "write --part 0/2"; do shard --shards 6 --stage $st -o out in; done
	exits 0 bert-shard --status out
	says "write: 3 of 6 shards, missing: 1 3 5"
	cp out/shard-00002-of-00006.shard good
	for n in 0 1 100 $(($(stat -c %s good) - 1)); do
		head -c "$n" good >out/shard-00002-of-00006.shard
		exits 0 bert-shard --status out
		says "write: 2 of 6 shards, missing: 1 2 3 5"
	done
	cp out/shard-00000-of-00006.shard out/shard-00002-of-00006.shard
	exits 0 bert-shard --status out
	says "write: 2 of 6 shards, missing: 1 2 3 5"
	cp good out/shard-00002-of-00006.shard
	exits 0 bert-shard --status out
	says "write: 3 of 6 shards, missing: 1 3 5"
}

@test "--status names the work file that lacks what it should say" {
	documents 0 50 >in
	shard --stage index -o out in
	echo '{}' >out/.work/plan.json
	exits 0 bert-shard --status out
	says "plan: damaged"
	echo '{}' >out/.work/options.json
	exits 0 bert-shard --status out
	says "options: damaged: 'out/.work/options.json': "
}

@test "stages refuse what can be read only once, parts what cannot be cut" {
	documents 0 50 | gzip >in.gz
	exits 2 shard --stage index --part 0/2 -o out
	says "standard input"
	mkfifo pipe
	exits 2 shard --stage index -o out pipe
	says "a pipe"
	exits 2 shard --stage index -o out - <in.gz
	says "standard input"
	exits 2 shard --stage index --part 0/2 -o out in.gz
	says "'in.gz' is packed"
	exits 2 shard --stage index --part 2/2 -o out in.gz
	exits 2 shard --stage plan --part 0/2 -o out in.gz
	exits 2 shard --part 0/2 -o out in.gz
	shard --stage index -o out in.gz
	shard -o out in.gz
	bert-verify out
}

@test "token documents make what their text makes: pipe, file, packed, in parts" {
	documents 0 300 >in
	shard --shards 3 -o text in
	bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs in >in.tok
	shard --shards 3 -o pipe <in.tok
	same text pipe
	shard --shards 3 -o file in.tok
	same text file
	gzip -k in.tok
	shard --shards 3 -o packed in.tok.gz
	same text packed
	for i in 1 0; do shard --shards 3 --stage index --part "$i/2" -o parts in.tok; done
	shard --shards 3 -o parts in.tok
	same text parts
	documents 0 100 >a
	documents 100 100 | bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs >b.tok
	documents 200 100 >c
	shard --shards 3 -o mixed a b.tok c
	same text mixed
}

# made_by OPTIONS...: a.tok of text a, so tokenized
made_by() { bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs "$@" -o a.tok a; }

@test "token documents may be made with any switch, and the shards say which" {
	local switch
	documents 0 20 >a
	for switch in "--compat hf" "--max-word 7" "--unicode 15.0" "--strip-accents no --split-cjk no" "--never-split Alice" "--segmenter cat"; do
		rm -rf out piped staged
		# shellcheck disable=SC2086
		made_by $switch
		shard -o out a.tok
		bert-verify -q out
		shard -o piped <a.tok
		same out piped
		for stage in "index --part 0/2" "index --part 1/2" plan write; do
			# shellcheck disable=SC2086
			shard --stage $stage -o staged a.tok
		done
		same out staged
	done
	made_by --compat hf
	shard -o hf a.tok
	jq -e '.recipe.tokenizer | .compat == "hf" and .unicode == null and .max_word == 100' hf/manifest.json
	made_by --never-split Alice --max-word 7
	shard --masking dynamic -o never a.tok
	jq -e '.recipe.tokenizer | .never_split == ["Alice"] and .max_word == 7' never/manifest.json
	# but all alike, and as text beside them, or a model directory, has it
	bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs -o b.tok a
	exits 1 shard -o no a.tok b.tok
	says "'b.tok' were made otherwise: max_word is 200, not 7"
	exits 1 shard -o no a.tok a
	says "'a.tok' were made otherwise: max_word is 7, not 200"
	mkdir m
	cp "$DATA/man/vocab.txt" m
	echo '{"do_lower_case": true}' >m/tokenizer_config.json
	exits 1 bert-shard --model m -o no a.tok
	says "'a.tok' were made otherwise: never_split is [\"Alice\"], not absent"
	[ ! -e no ]
}

@test "a model directory leaves whose ids, longest word and Unicode to token documents" {
	documents 0 20 >a
	mkdir m
	cp "$DATA/man/vocab.txt" m
	echo '{"do_lower_case": false, "never_split": ["Alice"], "unicode_version": "15.0"}' >m/tokenizer_config.json
	for switch in "--compat hf" "--max-word 7" "--unicode 14.0"; do
		# shellcheck disable=SC2086
		bert-tokenize --model m --to docs $switch -o a.tok a
		rm -rf out
		bert-shard --model m --shards 1 -o out a.tok
		jq -e '.recipe.tokenizer | .cased and .never_split == ["Alice"]' out/manifest.json
		jq -r '.recipe.tokenizer | "\(.compat) \(.max_word) \(.unicode)"' out/manifest.json >>made
	done
	printf '%s\n' 'hf 100 null' 'google 7 15.0' 'google 200 14.0' | diff - made
	bert-tokenize --model m --to docs --lower yes --max-word 7 -o a.tok a
	exits 1 bert-shard --model m -o no a.tok
	says "'a.tok' were made otherwise: cased is false, not true"
	# beside text they are the directory's
	bert-tokenize --model m --to docs --max-word 7 -o a.tok a
	exits 1 bert-shard --model m -o no a.tok a
	says "'a.tok' were made otherwise: max_word is 7, not 200"
	bert-tokenize --model m --to docs -o a.tok a
	bert-shard --model m --shards 1 -o both a.tok a
	jq -e '.recipe.tokenizer.unicode == "15.0"' both/manifest.json
	[ ! -e no ]
}

@test "token documents made otherwise are refused, naming how" {
	documents 0 20 >in
	bert-tokenize --vocab "$DATA/man/vocab.txt" --cased --to docs in >in.tok
	exits 1 shard -o out in.tok
	says "'in.tok' were made otherwise: cased is true, not false"
	exits 1 shard -o out <in.tok
	says "cased is true"
	shard -o out in					# nothing was made: other input is welcome
	bert-verify out
	{ cat "$DATA/man/vocab.txt"; echo more; } >vocab
	bert-tokenize --vocab vocab --to docs in >in.tok
	exits 1 shard -o out2 in.tok
	says "vocab."
	[ ! -e out2 ]
}

@test "a stream cut anywhere: exit 3, no shard, no manifest" {
	documents 0 200 | bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs >in.tok
	size=$(stat -c %s in.tok)
	for cut in 10 100 $((size / 3)) $((size - 1)); do
		head -c "$cut" in.tok >cut.tok
		exits 3 bash -c "bert-shard --vocab '$DATA/man/vocab.txt' -o 'out$cut' <cut.tok"
		[ ! -e "out$cut/manifest.json" ]
		[ -z "$(find . -path "./out$cut/*" -name '*.shard')" ]
	done
	exits 3 shard -o file cut.tok
	says "cut.tok"
	exits 3 bash -c "gzip <in.tok | head -c 300 | bert-shard --vocab '$DATA/man/vocab.txt' -o packed"
}

@test "a folder made with other options or from other input is refused, naming what differs" {
	documents 0 100 >in
	documents 0 101 >longer
	sed 's/alice/while/' in >changed
	shard --shards 2 -o out in
	find out -type f -printf '%p %T@ %s\n' | sort >before
	exits 1 shard --shards 2 --max-seq-length 64 --max-predictions-per-seq 10 -o out in
	says "recipe.max_seq_length is 128, not 64"
	exits 1 shard --shards 2 --seed 7 -o out in
	says "recipe.seed is 12345, not 7"
	exits 1 shard --shards 3 -o out in
	says "options.shards is 2, not 3"
	exits 1 shard --shards 2 --compress 3 -o out in
	says "options.compress is 1, not 3"
	exits 1 shard --shards 2 --cased -o out in
	says "recipe.tokenizer.cased is false, not true"
	exits 1 shard --shards 2 -o out longer
	says "inputs[0].bytes is"
	exits 1 shard --shards 2 -o out changed
	says "inputs[0].sample is"
	exits 1 shard --shards 2 -o out in in
	says "inputs has 1 entries, not 2"
	exits 1 bash -c "bert-shard --vocab '$DATA/man/vocab.txt' --shards 2 -o out <longer"
	says "'out' was made from other input"
	cmp before <(find out -type f -printf '%p %T@ %s\n' | sort)
	shard --shards 2 --threads 1 --memory 32M -o out in
	shard --shards 2 -o out <in
	cmp before <(find out -type f -printf '%p %T@ %s\n' | sort)
	shard --shards 2 --stage index --part 0/2 -o half in
	exits 1 shard --shards 2 --seed 7 --stage index --part 1/2 -o half in
	says "recipe.seed is 12345, not 7"
}

@test "what another version made is not taken for damage" {
	documents 0 10 >in
	shard --shards 2 -o out in
	printf '%b' '\x89\x42\x54\x46\x0d\x0a\x1a\x0a\x53\x48\x52\x44\x02\x00\x34\x12\x00\x00\x00\x00\x00\x00\x00\x00\xdc\x88\xf8\x37\x97\x04\xdd\xe5' >out/shard-00001-of-00002.shard
	cp out/shard-00001-of-00002.shard later
	exits 1 shard --shards 2 -o out in
	says "'out/shard-00001-of-00002.shard' is of format version 2"
	echo x >>out/manifest.json
	exits 1 shard --shards 2 --seed 7 -o out in
	exits 1 shard --shards 2 -o out in
	says "is of format version 2"
	cmp later out/shard-00001-of-00002.shard
	printf x | dd of=out/shard-00001-of-00002.shard bs=1 seek=20 conv=notrunc status=none
	shard --shards 2 -o out in
	bert-verify out
}

@test "where all is damaged, what still says whose it is decides; where nothing does, the folder is left alone" {
	documents 0 300 >in
	documents 0 299 >other
	shard --shards 2 -o good in
	cp -r good out
	for f in out/*.shard out/manifest.json; do echo x >>"$f"; done
	cp -r out harmed
	exits 1 shard --shards 2 --seed 7 -o out in
	says "is of another run: recipe.seed is 12345, not 7"
	exits 1 shard --shards 2 -o out other
	says "is of another run: corpus."
	diff -r harmed out
	shard --shards 2 -o out in
	diff -r good out
	for harm in "flip FILE 3" ": >FILE" "truncate -s 40 FILE" "head -c 5000 /dev/zero >FILE"; do
		cp harmed/* out
		for f in out/*.shard; do eval "${harm//FILE/$f}"; done
		cp -r out harmed.more
		exits 1 shard --shards 2 -o out in
		says "'out' holds shards, and neither they nor manifest.json, damaged as they are, say of which run"
		diff -r harmed.more out
		rm -r harmed.more
	done
	cp harmed/* out
	flip out/shard-00000-of-00002.shard 3
	cp -r out harmed.more
	exits 1 shard --shards 2 -o out other
	diff -r harmed.more out
	shard --shards 2 -o out in
	diff -r good out
	for f in out/*.shard; do echo x >>"$f"; done
	exits 1 shard --shards 2 --seed 7 -o out in
	shard --shards 2 -o out in
	diff -r good out
}

@test "a manifest of another version is refused, not written over" {
	documents 0 30 >in
	shard -o out in
	jq -c '.version = 2 | .news = 1' out/manifest.json >later
	cp later out/manifest.json
	exits 1 shard -o out in
	says "'out/manifest.json' is of another version"
	cmp later out/manifest.json
}

@test "a folder of somebody else is left alone" {
	documents 0 10 >in
	mkdir theirs
	echo x >theirs/data.shard
	exits 1 shard -o theirs in
	says "holds shards but no manifest.json"
	[ "$(ls -A theirs)" = data.shard ]
	mkdir vocab
	printf '[UNK]\nother\n' >vocab/vocab.txt
	exits 1 shard -o vocab in
	says "'vocab/vocab.txt' is another vocabulary"
	echo x >file
	exits 1 shard -o file in
	says "file"
}

@test "what is missing or damaged is made again, and nothing else" {
	documents 0 300 >in
	shard --shards 4 -o out in
	cp -r out good
	rm out/shard-00001-of-00004.shard
	truncate -s 1000 out/shard-00003-of-00004.shard
	kept=$(stat -c '%i %Y' out/shard-00000-of-00004.shard)
	exits 0 shard --shards 4 -v -o out in
	says "2 shards made, 2 there already, complete"
	same good out
	cmp good/manifest.json out/manifest.json
	[ "$(stat -c '%i %Y' out/shard-00000-of-00004.shard)" = "$kept" ]
	no_leftovers out
}

@test "what is damaged inside a finished folder is found and made again: shards, vocabulary, manifest" {
	documents 0 300 >in
	shard --shards 2 -o out in
	cp -r out good
	file=shard-00001-of-00002.shard
	size=$(stat -c %s "out/$file")
	for at in 3 $((size / 3)) $((size / 2)) $((size - 5)); do
		flip "out/$file" "$at"
		exits 0 bert-shard --status out
		says "write: 1 of 2 shards, missing: 1"
		exits 0 shard --shards 2 -v -o out in
		says "1 shards made, 1 there already, complete"
		diff -r good out
		flip "out/$file" "$at"
		shard --shards 2 -o out <in
		diff -r good out
	done
	for harm in 'rm out/vocab.txt' 'echo more >>out/vocab.txt' ': >out/vocab.txt'; do
		eval "$harm"
		exits 0 bert-shard --status out
		says "vocab.txt: missing or damaged"
		exits 0 shard --shards 2 -v -o out in
		says "0 shards made, 2 there already, complete"
		diff -r good out
	done
	for change in '.shards[0].bytes += 1' '.totals.instances += 1' '.recipe.seed += 1' 'del(.options)' '.digest = "0"'; do
		jq -c "$change" good/manifest.json >out/manifest.json
		exits 0 bert-shard --status out
		says "manifest: damaged"
		exits 1 shard --shards 2 --seed 7 -o out in
		says "is of another run: recipe.seed is 12345, not 7"
		shard --shards 2 -o out in
		diff -r good out
	done
	jq -c '.inputs[0].bytes += 1' good/manifest.json >out/manifest.json
	documents 0 299 >other
	exits 1 shard --shards 2 -o out other
	says "is of another run"
	shard --shards 2 -o out <in
	bert-verify out
}

@test "two at once in one folder: never a mixture, and one of them at least ends well" {
	documents 0 2000 >a
	documents 1 2000 >b
	shard --shards 4 -o a.out a
	shard --shards 4 -o b.out b
	for input in 'a a' 'a b'; do
		rm -rf out
		for file in $input; do
			{ status=0; shard --shards 4 -o out <"$file" 2>"err.$file" || status=$?; echo "$status" >>status; } &
		done
		wait
		grep -qx 0 status
		[ "$(sort -u status | tr -d '\n' | tr -d 01)" = "" ]
		rm status
		bert-verify -q out
		same out a.out || same out b.out
		no_leftovers out
	done
}

@test "a folder in which a run is at work is refused; parts go beside each other; a killed run holds nothing" {
	documents 0 100 >in
	mkfifo pipe
	documents 0 4000 >big
	bert-shard --vocab "$DATA/man/vocab.txt" -o out <pipe &
	pid=$!
	exec 7>pipe
	cat big >&7
	for i in $(seq 200); do
		[ ! -e out/.work/options.json ] || break
		sleep 0.05
	done
	exits 1 shard -o out in
	says "another bert-shard is at work in 'out'"
	exits 1 shard --stage index -o out in
	says "another bert-shard is at work in 'out'"
	kill -9 "$pid"
	wait "$pid" || true
	exec 7>&-
	shard -o out in
	bert-verify out
	mkdir other
	flock --shared other bert-shard --vocab "$DATA/man/vocab.txt" --stage index -o other in
	exits 1 flock --shared other bert-shard --vocab "$DATA/man/vocab.txt" -o other in
	says "another bert-shard is at work in 'other'"
}

@test "shards side by side, too large for that, and alone are the same" {
	documents 0 2000 | awk '/./ { print } !/./ && ++n % 20 == 0 { print "" }' >in
	# Nearly twice as many instances as are expected, so that what looks as if it fitted into half of 32 MiB does not.
	for o in "--shards 5 --dupe-factor 2" "--shards 2 --dupe-factor 34 --short-seq-prob 1"; do
		rm -rf alone beside
		# shellcheck disable=SC2086
		shard $o --threads 1 -o alone in
		# shellcheck disable=SC2086
		shard $o --threads 2 --memory 32M -o beside in
		same alone beside
		cmp alone/manifest.json beside/manifest.json
		rm beside/shard-00001*
		# shellcheck disable=SC2086
		exits 0 shard $o --threads 4 -v -o beside in
		says "1 shards made"
		same alone beside
	done
	bert-verify beside
}

@test "many threads in little memory" {
	documents 0 6000 >some
	for i in 1 2 3 4 5 6 7 8 9 10; do cat some; done >in
	exits 0 shard --stage index --memory 16M --threads 16 -v -o out in
	peak=$(sed -nE 's/.* ([0-9]+)\.[0-9]+ MiB peak.*/\1/p' <<<"$output")
	grep -q "__[at]san_init" "$BIN/bert-shard" && skip "the sanitizer's memory counts, too"
	[ "$peak" -le 48 ]
}

@test "20,000 shards take no more memory than one, to make and to read" {
	local program peak
	grep -q "__[at]san_init" "$BIN/bert-shard" && skip "the sanitizer's memory counts, too"
	documents 0 300 >in
	exits 0 shard --memory 16M --threads 2 --shards 20000 -v -o out in
	[ "$(sed -nE 's/.* ([0-9]+)\.[0-9]+ MiB peak.*/\1/p' <<<"$output")" -le 20 ]
	[ "$(jq '.shards | length' out/manifest.json)" = 20000 ]
	[ "$(jq -cSj . out/manifest.json | cksum)" = "$(cksum <out/manifest.json)" ]
	rm out/shard-00007-*
	exits 0 shard --memory 16M --threads 2 --shards 20000 -v -o out in
	[ "$(sed -nE 's/.* ([0-9]+)\.[0-9]+ MiB peak.*/\1/p' <<<"$output")" -le 20 ]
}

@test "places of a million shards do not fit in 16 MiB, and that is said before the work" {
	documents 0 10 >in
	exits 1 shard --shards 1000000 --memory 16M -o out in
	says "too large for --memory"
	[ "$(ls out/.work)" = options.json ]
}

@test "a document that does not fit is named with its place" {
	documents 0 10 >in
	size=$(stat -c %s in)
	awk 'BEGIN { for (i = 0; i < 150000; i++) print "alice was beginning to get very tired of sitting" }' >>in
	exits 1 shard --memory 16M -o out in
	says "'in': the document at byte $size has"
	says "give more --memory"
}

@test "a vocabulary with blank or repeated lines is warned of" {
	documents 0 10 >in
	{ cat "$DATA/man/vocab.txt"; printf 'alice\n\n'; } >vocab
	exits 0 bert-shard --vocab vocab -o out in
	says "the vocabulary of 'vocab' has 1 blank line and 1 line that repeats an earlier one and takes its place"
	exits 0 bert-shard -q --vocab vocab -o out in
	[ -z "$output" ]
	{ cat "$DATA/man/vocab.txt"; printf '[UNK]\n[SEP]\n'; } >vocab
	exits 0 bert-shard --vocab vocab -o out2 in
	says "the vocabulary of 'vocab' has 2 lines that repeat an earlier one and take its place"
}

@test "killed at any moment and run again: the same, and nothing half-made keeps its name" {
	documents 0 4000 >some
	cat some some >in
	start=$(date +%s%N)
	shard --shards 6 --threads 1 --dupe-factor 5 -o straight in
	took=$((($(date +%s%N) - start) / 1000))
	for share in 10 25 40 55 70 85; do
		timeout --foreground -s KILL "$(awk -v t="$took" -v s="$share" 'BEGIN { printf "%.3f", t * s / 1e8 }')" \
			bert-shard --vocab "$DATA/man/vocab.txt" --shards 6 --threads 1 --dupe-factor 5 -o killed in || true
		for f in killed/*.shard; do
			[ ! -e "$f" ] || cmp "$f" "straight/${f##*/}"
		done
	done
	shard --shards 6 --threads 1 --dupe-factor 5 -o killed in
	same straight killed
	cmp straight/manifest.json killed/manifest.json
	no_leftovers killed
}

@test "a signal removes what is unfinished" {
	documents 0 3000 >some
	cat some some some >in
	bert-shard --vocab "$DATA/man/vocab.txt" --shards 2 -o out in &
	pid=$!
	for i in $(seq 200); do
		[ -z "$(find out -name '.*.tmp' 2>/dev/null)" ] || break
		sleep 0.05
	done
	kill -INT "$pid" 2>/dev/null || true
	status=0
	wait "$pid" || status=$?
	[ "$status" -eq 130 ] || [ "$status" -eq 0 ]
	[ -z "$(find out -name '.*.tmp')" ]
}

@test "a full disk: a message, exit 1, nothing half-made; then it goes on" {
	need_mounts
	documents 0 4000 >in
	shard --shards 4 --dupe-factor 5 -o straight in
	unshare -rm bash -e -c '
		mkdir disk
		mount -t tmpfs -o size=2500k none disk
		status=0
		bert-shard --vocab "$DATA/man/vocab.txt" --shards 4 --dupe-factor 5 -o disk/out in 2>err || status=$?
		[ "$status" -eq 1 ]
		grep -q "No space left" err
		grep -q "disk/out" err
		grep -q "has room for 2.[0-9] MB, and about [0-9.]* MB are needed" err
		grep -q "No space left on device; about [0-9.]* MB are still to be written: what is whole stays, and where there is room the same command goes on" err
		[ ! -e disk/out/manifest.json ]
		[ -z "$(find disk -name "*.tmp")" ]
		for f in disk/out/*.shard; do [ ! -e "$f" ] || cmp "$f" "straight/${f##*/}"; done
		mount -o remount,size=100m disk
		bert-shard --vocab "$DATA/man/vocab.txt" --shards 4 --dupe-factor 5 -o disk/out in
		for f in straight/*; do cmp "$f" "disk/out/${f##*/}"; done'
}

@test "a read-only folder is named" {
	need_mounts
	documents 0 10 >in
	unshare -rm bash -e -c '
		mkdir disk
		mount -t tmpfs none disk
		mount -o remount,ro disk
		status=0
		bert-shard --vocab "$DATA/man/vocab.txt" -o disk/out in 2>err || status=$?
		[ "$status" -eq 1 ]
		grep -q "disk/out.*Read-only" err'
}

@test "a vocabulary without [MASK], [CLS] or [SEP] is refused by name" {
	documents 0 10 >in
	for token in MASK CLS SEP; do
		grep -vF "[$token]" "$DATA/man/vocab.txt" >vocab
		exits 3 bert-shard --vocab vocab -o out in
		says "the vocabulary 'vocab' has no [$token]"
		[ ! -e out ]
	done
	printf '[UNK]\n[CLS]\n[SEP]\n[MASK]\n' >vocab
	exits 1 bert-shard --vocab vocab -o out in
	says "no tokens but special ones"
}

@test "options out of range: exit 2" {
	documents 0 10 >in
	exits 2 shard --max-seq-length 4 -o out in
	exits 2 shard --max-seq-length 65536 -o out in
	exits 2 shard --max-seq-length 16 --max-predictions-per-seq 17 -o out in
	exits 2 shard --masked-lm-prob 1.5 -o out in
	exits 2 shard --masking dynamic --dupe-factor 2 -o out in
	exits 2 shard --name ../x -o out in
	exits 2 shard in
	says "-o DIR"
	exits 2 shard -o - in
	says "-o -"
	exits 1 shard --tmp /nonexistent/x -o out in
	says "--tmp '/nonexistent/x'"
	exits 1 shard --tmp in -o out in
	says "--tmp 'in' is no folder"
	exits 2 bert-shard -o out in
	says "--vocab FILE or --model DIR"
	[ ! -e out ]
}

@test "the least length works, and so does a long one" {
	documents 0 30 >in
	shard --max-seq-length 5 --max-predictions-per-seq 2 -o short in
	shard --max-seq-length 2000 --max-predictions-per-seq 300 -o long in
	bert-verify short long
}

@test "input that is missing, empty or blank: a message, exit 1" {
	exits 1 shard -o out /nonexistent/file
	says "'/nonexistent/file'"
	[ ! -e out ]
	: >empty
	exits 1 shard -o out empty
	says "no documents"
	printf '\n \n\n' >blank
	exits 1 shard -o out blank
	says "no documents"
	[ -z "$(ls -A out)" ]
	mkdir folder
	exits 1 shard -o out3 folder
	says "folder"
}

@test "one document, documents without tokens, one-sentence documents" {
	printf 'alice was tired.\nshe was beginning to get up.\n' >one
	exits 0 shard -o one.out one
	bert-verify one.out
	[ "$(grep -o '"random_next":[0-9]*' one.out/manifest.json | tail -n 1)" = '"random_next":0' ]
	printf 'alice\n' >single
	exits 0 shard -o single.out single
	says "10 chunks of one sentence made no instance"
	for i in 1 2 3; do printf 'alice\n\n'; done >equal
	exits 0 shard -o equal.out equal
	says "30 chunks of one sentence made no instance: a shard has one document only, or equal ones, so there is no other to draw"
	bert-verify single.out
	printf 'alice was.\n\n\342\200\213\n\nshe was.\n\n\342\200\213\n' >empty
	exits 0 shard -o empty.out empty
	says "2 documents have no tokens"
	bert-verify empty.out
}

# vector NAME: the bytes that shards/FORMAT.md shows after "NAME:", as one word of hexadecimal digits.
vector() { awk -v name="    $1:" '$0 == name { on = 1; next } on && !/^    ([0-9a-f][0-9a-f]( |$))+/ { exit } on { match($0, /^    ([0-9a-f][0-9a-f]( |$))+/); printf "%s", substr($0, 1, RLENGTH) }' "$TOP/shards/FORMAT.md" | tr -d ' '; }

# holds FILE HEX: the bytes are in it.
holds() { [ -n "$2" ] && od -An -v -tx1 "$1" | tr -d ' \n' | grep -q "$2"; }

@test "the test vector of FORMAT.md" {
	printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' '[MASK]' a b c d '##e' >vocab
	printf 'a b c\nd ae\n\nc d\na\n' >in
	bert-tokenize --vocab vocab --to docs in >in.tok
	holds in.tok "$(vector 'token documents')"
	bert-shard --vocab vocab --max-seq-length 8 --max-predictions-per-seq 2 --masked-lm-prob 0.3 --dupe-factor 1 --seed 1 --compress 0 -o out in
	holds out/*.shard "$(vector table)"
	holds out/*.shard "$(vector instances)"
	[ "$(vector instances | wc -c)" -eq 220 ]
	[ "$(bert-cat out | tail -n 1)" = '{"input_ids":[2,4,7,9,3,5,3],"segment_ids":[0,0,0,0,0,1,1],"masked_lm_positions":[1,2],"masked_lm_ids":[8,5],"next_sentence_label":1}' ]
}

@test "more shards than documents" {
	documents 0 20 >in
	shard --shards 100 -o out in
	[ "$(find out -name '*.shard' | wc -l)" -eq 100 ]
	bert-verify out
}

@test "a FIFO is read as text" {
	documents 0 100 >in
	shard --shards 2 -o file in
	mkfifo pipe
	cat in >pipe &
	shard --shards 2 -o fifo pipe
	wait
	same file fifo
	exits 1 bash -c "bert-shard --vocab '$DATA/man/vocab.txt' --shards 2 -o fifo <(head -n 50 in)"
	says "'fifo' was made from other input"
	same file fifo
}

@test "bytes that are not UTF-8 are replaced and counted" {
	printf 'alice \377 was\nvery tired\n\nshe was\n' >in
	exits 0 shard -o out in
	says "1 ill-formed parts of text"
	bert-verify out
}

@test "--masking dynamic stores no masks and makes one pass" {
	documents 0 50 >in
	shard --masking dynamic -o out in
	grep -q '"predictions":0' out/manifest.json
	grep -q '"dupe_factor":1' out/manifest.json
	bert-verify out
}

@test "whole words: no mask covers part of one" {
	documents 0 60 >in
	shard --whole-word-mask -o out in
	shard -o pieces in
	run cmp out/shard-00000-of-00001.shard pieces/shard-00000-of-00001.shard
	[ "$status" -eq 1 ]
	bert-verify out
}

@test "the reference's flags are taken" {
	documents 0 20 >a.txt
	documents 20 20 >b.txt
	documents 40 20 >c.txt
	shard --shards 2 --max-seq-length 64 --dupe-factor 2 --seed 9 --cased -o ours a.txt b.txt c.txt
	bert-shard --input_file='a.txt,[bc].txt' --vocab_file="$DATA/man/vocab.txt" --do_lower_case=False --random_seed=9 \
		--max_seq_length=64 --max_predictions_per_seq=20 --dupe_factor=2 --masked_lm_prob=0.15 --short_seq_prob=0.1 \
		--do_whole_word_mask=False --shards 2 -o theirs
	same ours theirs
	cmp ours/manifest.json theirs/manifest.json
	exits 1 shard --input_file='nothing-*.txt' -o out
	says "no file matches 'nothing-*.txt'"
}

@test "a cap on predictions that does not fit is warned of" {
	documents 0 20 >in
	exits 0 shard --max-seq-length 512 -o out in
	says "--max-predictions-per-seq 20 cannot hold --masked-lm-prob 0.15 of --max-seq-length 512: 77"
	exits 0 shard -q --max-seq-length 512 -o out2 in
	[ -z "$output" ]
	exits 0 shard --dry-run --max-predictions-per-seq 40 in
	says "is never reached: 19 is the most"
}

@test "the number of masks is no more than that of tokens, unless it is asked for" {
	documents 0 20 >in
	shard --max-seq-length 16 -o out in
	[ "$(jq .recipe.max_predictions_per_seq out/manifest.json)" = 16 ]
	exits 2 shard --max-seq-length 16 --max-predictions-per-seq 20 -o out in
	says "--max-predictions-per-seq 20 is more than --max-seq-length 16"
}

@test "--dry-run predicts what is made, and makes nothing" {
	documents 0 400 >in
	exits 0 shard --dry-run in
	instances=$(sed -n 's/^instances *//p' <<<"$output")
	[ "$(ls)" = in ]
	mkdir tmp
	shard -q --dry-run --tmp tmp --shards 50 in >guess
	[ -z "$(ls -A tmp)" ]
	shard -o out in
	grep -q "\"instances\":$instances," out/manifest.json
	documents 0 4000 >some
	for i in $(seq 40); do cat some; done >large
	exits 0 shard --dry-run --dupe-factor 1 large
	says "read "
	guess=$(sed -n 's/^documents *//p' <<<"$output")
	[ "$guess" -gt 150000 ]
	[ "$guess" -lt 170000 ]
}

@test "--dry-run that is interrupted leaves nothing in --tmp" {
	local rc=0
	can_trace
	documents 0 400 >in
	mkdir tmp
	strace -f -qq -o made -e 'trace=?mkdir,mkdirat' -e 'inject=?mkdir,mkdirat:signal=TERM:when=1' \
		bert-shard --vocab "$DATA/man/vocab.txt" --dry-run --tmp tmp --shards 50 in >guess || rc=$?
	grep -q '"tmp/' made
	[ "$rc" -eq 143 ]
	[ -z "$(ls -A tmp)" ]
}

@test "-v says before the work what disk it will take" {
	documents 0 3000 >in
	exits 0 shard -v -o out in
	[[ "${lines[0]}" =~ ^"bert-shard: disk, by the size of the input: about "([0-9.]+)" MB of work files, and "([0-9.]+)" MB of shards before they are packed"$ ]]
	awk -v work="${BASH_REMATCH[1]}" -v text="$(stat -c %s in)" 'BEGIN { exit !(work > 0.4e-6 * text && work < 0.6e-6 * text) }'
	exits 0 shard -v -o out in
	[[ "$output" != *"disk"* ]]
	exits 0 bash -c "bert-shard --vocab '$DATA/man/vocab.txt' -v -o stream <in"
	says "a stream's size is not known"
}

@test "much disk is said without -v, and too little is warned of" {
	documents 0 3000 >in
	exits 0 shard --stage index --dupe-factor 1000 -o out in
	says "disk, by the size of the input"
	exits 0 shard -q --stage index --dupe-factor 1000 -o quiet in
	[ -z "$output" ]
	exits 0 shard --stage index --dupe-factor 2 -o little in
	[ -z "$output" ]
	need_mounts
	for i in {1..32}; do cat in; done >large
	mkdir small
	# shellcheck disable=SC2016
	exits 0 unshare -rm bash -e -c 'mount -t tmpfs -o size=1m none small
		! bert-shard --vocab "$DATA/man/vocab.txt" --dry-run --memory 24M --dupe-factor 1 --tmp small -o out large	# it sorts there too
		bert-shard --vocab "$DATA/man/vocab.txt" --dry-run -o small/a/b large'
	says "'small' has room for 1.0 MB, and sorting needs about"
	says "'small/a/b' has room for 1.0 MB, and about"
}

@test "shards are cut by size and number of documents" {
	documents 0 400 >in
	shard --shard-size 64K --dupe-factor 1 -o one in	# too few documents for more
	[ "$(ls one/*.shard | wc -l)" -eq 1 ]
	shard --name wiki --shards 2 -o two in
	[ -e two/wiki-00001-of-00002.shard ]
	shard --compress 0 -o raw in
	shard -o packed in
	[ "$(stat -c %s raw/*.shard)" -gt "$(stat -c %s packed/*.shard)" ]
	[ "$(grep -o '"digest":"[0-9a-f]*","documents":400,"instances"' raw/manifest.json)" = "$(grep -o '"digest":"[0-9a-f]*","documents":400,"instances"' packed/manifest.json)" ]
}

@test "sentence order and full sentences: the same for threads, parts and who reads, and verified" {
	documents 0 300 >in
	for o in "--pairs sop" "--pairs none" "--pairs none --cross-documents" "--pairs none --cross-documents --masking dynamic --dupe-factor 1" \
		"--pairs sop --whole-word-mask --max-seq-length 32"; do
		rm -rf one parts
		# shellcheck disable=SC2086
		shard --dupe-factor 2 $o --shards 3 --threads 1 -o one in
		for i in 1 0; do
			# shellcheck disable=SC2086
			shard --dupe-factor 2 $o --shards 3 --threads 3 --stage index --part "$i/2" -o parts in
		done
		# shellcheck disable=SC2086
		shard --dupe-factor 2 $o --shards 3 --threads 3 -o parts in
		same one parts
		bert-verify one
		bert-stat one >stat.json
		bert-cat one --epoch 1 | jq -c '[.segment_ids | max, length]' | sort | uniq -c >types
		[ "$(jq .instances stat.json)" = "$(bert-cat one | wc -l)" ]
		case $o in *sop*) grep -q '\[1,' types; bert-cat one | jq .next_sentence_label | sort -u | tr '\n' ' ' | grep -q '0 1' ;;
			*) ! grep -q '\[1,' types ; [ "$(bert-cat one | jq .next_sentence_label | sort -u)" = 0 ] ;; esac
	done
}

@test "text for people says what the label means" {
	documents 0 40 >in
	shard --pairs sop --dupe-factor 1 -o sop in
	bert-cat --text sop >text
	grep -q "masked, b stands before a$" text
	grep -q "masked, b follows a$" text
	shard --pairs none --cross-documents --dupe-factor 1 -o none in
	bert-cat --text none >text
	grep -q "masked$" text
	not grep -q "follows\|random\|before" text
	grep -q "^  b: " text
}

@test "pairs that do not go with other options are refused" {
	documents 0 4 >in
	exits 2 shard --cross-documents -o out in
	exits 2 shard --pairs sop --cross-documents -o out in
	exits 2 shard --pairs sop --compat google -o out in
	exits 2 shard --pairs some -o out in
}

# both ARGUMENTS...: a shard that memory does not hold is the same as one that it holds.
both() {
	rm -rf little much
	shard --memory 16M --threads 1 "$@" -o little
	shard --memory 2G --threads 2 "$@" -o much
	same little much
	cmp little/manifest.json much/manifest.json
	bert-verify little >said || { cat said; return 1; }
	no_leftovers little
}

@test "a shard larger than memory is made on disk, to the same bytes" {
	documents 0 400 >in
	documents 0 30 >>in				# equal documents
	for o in "" "--pairs sop" "--pairs none" "--pairs none --cross-documents" "--whole-word-mask --max-seq-length 200" "--random-next 0.3"; do
		# shellcheck disable=SC2086
		both --shards 1 --dupe-factor 80 --max-seq-length 24 $o in
	done
	shard --memory 2G --shards 2 --dupe-factor 150 --max-seq-length 24 -o one in
	for i in 0 1 2; do shard --memory 16M --shards 2 --dupe-factor 150 --max-seq-length 24 --stage index --part "$i/3" -o parts in; done
	shard --memory 16M --shards 2 --dupe-factor 150 --max-seq-length 24 --tmp . -o parts in
	same one parts
	[ "$(ls -A | grep -c tmp)" = 0 ]
	grep -q "__[at]san_init" "$BIN/bert-shard" && skip "the sanitizer's memory counts, too"
	exits 0 shard --memory 16M --threads 1 --shards 1 --dupe-factor 300 --max-seq-length 24 -v -o peak in
	[ "$(sed -nE 's/.* ([0-9]+)\.[0-9]+ MiB peak.*/\1/p' <<<"$output")" -le 32 ]
}

@test "documents are held in memory where shards fit beside them, and no index is written; the shards are the same" {
	documents 0 3000 >in
	shard --stage index --memory 16M --shards 4 -o staged in
	shard --stage plan --memory 16M --shards 4 -o staged in
	[ -f staged/.work/index-00000-of-00001.tok ]
	shard --stage write --memory 16M --shards 4 -o staged in
	for t in 1 2 3; do
		shard --threads $t --shards 4 -v -o held$t in 2>said
		same staged held$t
		cmp staged/manifest.json held$t/manifest.json
	done
	# More instances than are expected, of long documents in short sentences: they do not fit, and the index is made after all.
	awk 'BEGIN { m = split("alice was beginning to get very tired of sitting by her sister on the bank and having nothing do", w, " ")
		for (d = 0; d < 30; d++) { for (i = 0; i < 700; i++) { line = ""
			for (k = 0; k < 5; k++) line = line " " w[1 + (d * 31 + i * 17 + k * k * 7 + int(i / 18)) % m]
			print substr(line, 2) "." }
			print "" } }' >long
	shard --shards 1 --dupe-factor 100 --short-seq-prob 1 -o much long
	for m in 18M 24M 28M 38M; do
		rm -rf less
		shard --memory $m --threads 1 --shards 1 --dupe-factor 100 --short-seq-prob 1 -o less long
		same much less
		no_leftovers less
	done
}

@test "a shard larger than memory: few documents, equal ones, ones without tokens" {
	printf 'alice was tired.\nher sister.\non the bank.\n' >a
	printf 'having nothing to do.\nand very.\n' >b
	both --dupe-factor 60000 a					# no other document
	{ cat a; echo; cat b; } >two
	both --dupe-factor 60000 two
	{ cat a; echo; cat a; echo; cat a; } >equal
	both --dupe-factor 60000 equal
	printf '\342\200\213\n' >nothing					# a document without tokens
	{ cat b; echo; cat nothing; echo; cat a; echo; cat nothing; echo; cat b; } >mixed
	both --dupe-factor 30000 mixed
	both --dupe-factor 60000 --pairs none --cross-documents mixed
}

@test "a shard larger than memory fails as a whole where the disk is full" {
	need_mounts
	documents 0 400 >in
	mkdir small
	run unshare -rm bash -c 'mount -t tmpfs -o size=2M tmpfs small && exec "$@"' - bert-shard --vocab "$DATA/man/vocab.txt" \
		--memory 16M --threads 1 --shards 1 --dupe-factor 200 --max-seq-length 24 --tmp small -o out in
	[ "$status" = 1 ]
	says "No space left"
	[ -z "$(find out -name '*.shard')" ]
	shard --memory 16M --threads 1 --shards 1 --dupe-factor 200 --max-seq-length 24 -o out in
	bert-verify out
}

@test "masks of n-grams and of spans: static and dynamic, verified, refused where they are not known" {
	documents 0 200 >in
	for spans in ngram span; do
		shard --mask-spans $spans --shards 2 --dupe-factor 2 --threads 1 -o one.$spans in
		shard --mask-spans $spans --shards 2 --dupe-factor 2 --threads 3 -o three.$spans in
		same one.$spans three.$spans
		bert-verify one.$spans >said
		grep -q "masks drawn again" said
		[ "$(jq -r '[.recipe.mask_spans, .recipe.whole_word_mask] | join(" ")' one.$spans/manifest.json)" = "$spans true" ]
		shard --mask-spans $spans --masking dynamic -o dynamic.$spans in
		not cmp -s <(bert-cat --epoch 1 dynamic.$spans) <(bert-cat --epoch 2 dynamic.$spans)
	done
	shard --whole-word-mask --shards 2 --dupe-factor 2 -o words in
	[ "$(jq .recipe.mask_spans words/manifest.json)" = null ]
	exits 1 bert-diff words one.span
	exits 0 bert-diff --unmasked words one.span
	exits 2 shard --mask-spans span --compat google -o out in
}

@test "a share of random nexts is kept, whatever the documents" {
	documents 0 300 >in
	for i in $(seq 300); do printf 'lone %d\n\n' "$i"; done >>in
	for x in 0 0.2 0.5 1; do
		shard --random-next $x --dupe-factor 3 --shards 2 --threads 1 -o "share-$x" in 2>err
		grep -q "documents of one sentence made no instance" err
		bert-verify "share-$x"
		bert-stat "share-$x" 2>err >stat
		not grep -q "have a random next" err
		jq -e "(.random_next_share - $x | fabs) < 0.06" stat
	done
	jq -e '.random_next_share == 1' stat
	shard --random-next 0.2 --dupe-factor 3 --shards 2 --threads 3 -o again in
	same share-0.2 again
	exits 1 shard --random-next 0.3 --dupe-factor 3 --shards 2 -o again in
	exits 2 shard --random-next 1.1 -o out in
	says "--random-next takes a number from 0 to 1, not '1.1'"
	exits 2 shard --random-next half -o out in
	exits 2 shard --random-next 0.5 --pairs sop -o out in
	exits 2 shard --random-next 0.5 --pairs none -o out in
	exits 2 shard --random-next 0.5 --compat google -o out in
	[ ! -e out ]
}

@test "word draws and lengths of documents: other instances, verified, refused where they do not go" {
	documents 0 120 >in
	shard --whole-word-mask --dupe-factor 2 -o plain in
	shard --whole-word-mask --word-draws --dupe-factor 2 -o words in
	exits 1 bert-diff plain words
	says "recipes: word_draws"
	exits 0 bert-diff --unmasked plain words
	shard --document-lengths --short-seq-prob 0.5 --dupe-factor 3 --shards 2 --threads 1 -o lengths in
	shard --document-lengths --short-seq-prob 0.5 --dupe-factor 3 --shards 2 --threads 3 -o again in
	same lengths again
	bert-verify words lengths
	exits 2 shard --word-draws -o out in
	exits 2 shard --compat google --document-lengths -o out in
	exits 2 shard --compat google --whole-word-mask --word-draws -o out in
}

# stands FOLDER [OPTIONS...]: masked positions in all; the shares of [MASK], of the token itself, of others; other ones that are special.
stands() {
	bert-cat "$@" | jq -c '. as $i | [range(.masked_lm_positions | length) | [$i.input_ids[$i.masked_lm_positions[.]], $i.masked_lm_ids[.]]][]' |
		jq -sc 'length as $n | [$n] + [map(select(.[0] == 4)), map(select(.[0] == .[1])), map(select(.[0] != 4 and .[0] != .[1])) | length / $n]
			+ [map(select(.[0] < 4 and .[0] != .[1])) | length]'
}

@test "shares of [MASK] and random tokens: as asked for, verified, the same for threads and memory, and in the recipe" {
	documents 0 200 >in
	for o in "0.5 0.25" "1 0" "0 1 --mask-spans span" "0.6 0.4 --whole-word-mask --word-draws" "0 0 --mask-spans ngram" "0.7 0.1 --pairs none"; do
		rm -rf one three
		read -r mask random more <<<"$o"
		# shellcheck disable=SC2086
		shard --mask-replace-prob $mask --random-replace-prob $random $more --dupe-factor 6 --shards 2 --threads 1 --memory 16M -o one in
		# shellcheck disable=SC2086
		shard --mask-replace-prob $mask --random-replace-prob $random $more --dupe-factor 6 --shards 2 --threads 3 -o three in
		same one three
		bert-verify one >said
		[ "$(grep -c "masks drawn again" said)" = 2 ]
		jq -e --argjson m "$mask" --argjson r "$random" '.recipe | .mask_replace_prob == $m and .random_replace_prob == $r' one/manifest.json
		stands one >share
		jq -e --argjson m "$mask" --argjson r "$random" '.[0] > 9000 and (.[1] - $m | fabs) < 0.03 and (.[3] - $r | fabs) < 0.03' share
	done
	shard --dupe-factor 2 -o usual in
	shard --mask-replace-prob 0.8 --random-replace-prob 0.1 --dupe-factor 2 -o spelled in
	same usual spelled
	jq -e '.recipe | has("mask_replace_prob") or has("random_replace_prob") | not' usual/manifest.json
	shard --masking dynamic --mask-replace-prob 0.4 --random-replace-prob 0.4 -o dynamic in
	stands --epoch 3 dynamic | jq -e '(.[1] - 0.4 | fabs) < 0.05 and (.[3] - 0.4 | fabs) < 0.05'
	exits 2 shard --mask-replace-prob 0.9 --random-replace-prob 0.2 -o out in
	says "are more than 1 together"
	exits 2 shard --mask-replace-prob 0.9 --compat google -o out in
	exits 1 shard --mask-replace-prob 0.9 --dupe-factor 2 -o usual in
	says "recipe.mask_replace_prob is absent, not 0.9"
}

@test "the reference's faults by themselves: off by default, verified where they are on, the same for threads and memory" {
	documents 0 40 >in
	for o in --same-document-next "--same-document-next --random-next 0.5" "--whole-word-mask --words-across-sep" --special-replacements; do
		rm -rf one little
		# shellcheck disable=SC2086
		shard $o --shards 2 --dupe-factor 30 --max-seq-length 24 --threads 3 -o one in
		for i in 0 1; do
			# shellcheck disable=SC2086
			shard $o --shards 2 --dupe-factor 30 --max-seq-length 24 --memory 16M --stage index --part "$i/2" -o little in
		done
		# shellcheck disable=SC2086
		shard $o --shards 2 --dupe-factor 30 --max-seq-length 24 --memory 16M --threads 1 -o little in
		same one little
		bert-verify one
		# shellcheck disable=SC2086
		both --shards 1 --dupe-factor 600 --max-seq-length 24 $o in
	done
	exits 2 shard --same-document-next --pairs sop -o out in
	exits 2 shard --words-across-sep -o out in
	exits 2 shard --special-replacements --compat google -o out in
	says "by itself"
	[ ! -e out ]
}

@test "a random next of the same document: where it is allowed, also where there is no other" {
	printf 'alice was tired.\nher sister.\non the bank.\n' >one
	exits 0 shard --same-document-next --dupe-factor 20 -o out one
	bert-verify out
	jq -e '.totals.random_next > 10 and .totals.dropped == 0 and .recipe.same_document_next' out/manifest.json
	{ cat one; echo; printf 'having nothing to do.\nand very.\n'; } >two
	for f in two one; do
		both --same-document-next --dupe-factor 40000 $f
		both --same-document-next --random-next 0.3 --dupe-factor 40000 $f
	done
	shard --dupe-factor 20 -o plain two
	jq -e '.recipe | has("same_document_next") | not' plain/manifest.json
	shard --same-document-next --dupe-factor 20 -o allowed two
	exits 1 bert-diff plain allowed
}

@test "special tokens as random ones, and words across [SEP]: only where they are asked for" {
	documents 0 300 >in
	shard --dupe-factor 4 --random-replace-prob 0.2 -o plain in
	stands plain | jq -e '.[4] == 0'
	shard --special-replacements --dupe-factor 4 --random-replace-prob 0.2 -o special in
	stands special | jq -e '.[4] > 5'
	jq -e '.recipe.never == []' special/manifest.json
	shard --whole-word-mask --dupe-factor 4 --max-seq-length 40 -o words in
	shard --whole-word-mask --words-across-sep --dupe-factor 4 --max-seq-length 40 -o across in
	exits 0 bert-diff --unmasked words across
	# of pairs whose second segment begins with ##: how many have its token and the one before [SEP] masked as one
	for f in words across; do
		bert-cat --tokens "$f" | jq -c --rawfile vocab "$DATA/man/vocab.txt" '($vocab | split("\n")) as $v | . as $i | (.segment_ids | index(1)) as $b
			| ($i.masked_lm_positions | index($b)) as $k
			| select((if $k then $v[$i.masked_lm_ids[$k]] else $i.tokens[$b] end) | startswith("##"))
			| ($k != null) == ($i.masked_lm_positions | index($b - 2) != null)' | sort | uniq -c >"$f.count"
	done
	grep -q false words.count
	grep -q true across.count
	not grep -q false across.count
}

@test "--strict refuses ill-formed text with file and offset" {
	printf 'alice was\nrabbit \xff hole\n' >bad.txt
	exits 3 bert-shard --vocab "$DATA/man/vocab.txt" --strict --shards 1 -o s bad.txt
	says "'bad.txt': ill-formed UTF-8 at byte 17"
	exits 3 bert-shard --vocab "$DATA/man/vocab.txt" --strict --dry-run bad.txt
	exits 3 bert-shard --vocab "$DATA/man/vocab.txt" --strict --compat google --shards 1 -o g bad.txt
	says "'bad.txt': ill-formed UTF-8 at byte 17"
	exits 3 bert-shard --vocab "$DATA/man/vocab.txt" --strict --stage index -o i bad.txt
	[ -z "$(find . -name '*.shard')" ]
	printf '{"text": "alice was\\nrabbit"}\n{"text": "\\ud800 hole"}\n' >bad.jsonl
	for more in "-o j" "--dry-run" "--compat google -o j" "--stage index -o j"; do
		exits 3 bert-shard --vocab "$DATA/man/vocab.txt" --strict --from jsonl --shards 1 $more bad.jsonl
		says "'bad.jsonl', line 2: half of a surrogate pair stands alone"
	done
	exits 0 bert-shard --vocab "$DATA/man/vocab.txt" --from jsonl --shards 1 -o k bad.jsonl
	exits 0 bert-shard --vocab "$DATA/man/vocab.txt" --strict --shards 1 -o t "$DATA/man/corpus.txt"
	[ -z "$output" ]
	bert-shard --vocab "$DATA/man/vocab.txt" --shards 1 -o u "$DATA/man/corpus.txt"
	diff -r t u
}

@test "that there are no instances is said of the whole set" {
	documents 0 3 >in
	shard --shards 1000 -o out in
	for f in out/*.shard; do		# one that is empty goes
		[ "$(bert-cat "$f" | wc -l)" = 0 ] && break
	done
	rm "$f"
	exits 0 shard --shards 1000 -o out in
	[ -z "$output" ]
	[ -e "$f" ]
	printf 'one\n\n' >alone
	exits 0 shard --shards 2 -o none alone
	says "there are no instances"
}

@test "a damaged plan is made again; damaged options are refused with what to do" {
	local plan=out/.work/plan.json
	documents 0 40 >in
	shard --shards 2 -o whole in
	for part in 0 1; do shard --shards 2 -o out --stage index --part $part/2 in; done
	shard --shards 2 -o out --stage plan in
	cp $plan good
	for damage in 's/"documents":40/"documents":5/' 's/./{/2' '$d'; do
		sed "$damage" good >$plan
		not cmp -s good $plan
		exits 0 shard --status -o out
		says "plan: damaged"
		exits 1 shard --shards 2 -o out --stage write in
		says "'out/.work/plan.json' is damaged: run --stage plan, which makes it anew"
		shard --shards 2 -o out --stage plan in
		cmp good $plan
	done
	sed 's/"documents":40/"documents":5/' good >$plan
	cp out/.work/options.json options
	for damage in 's/./[/' '$d'; do
		sed "$damage" options >out/.work/options.json
		exits 0 shard --status -o out
		says "options: damaged"
		exits 3 shard --shards 2 -o out in
		says "remove 'out/.work' and the shards in 'out', and run again"
	done
	cp options out/.work/options.json
	shard --shards 2 -o out in		# all stages
	same whole out
	bert-verify out
}

# foretold PERCENT FILE ARGUMENTS...: --dry-run predicts what the same command makes, within PERCENT.
foretold() {
	local percent=$1 in=$2
	shift 2
	rm -rf out
	shard -q --dry-run "$@" "$in" >guess
	shard -q -o out "$@" "$in"
	jq -r '"documents \(.corpus.documents)", "instances \(.totals.instances)", "predictions \(.totals.predictions)",
		"shards \(.shards | length)", "disk \([.shards[].bytes] | add)"' out/manifest.json >made
	if ! sed 's/^on disk/disk/' guess | awk -v percent="$percent" '
		NR == FNR { guess[$1] = $2; next }
		{ n++; if (guess[$1] < $2 * (1 - percent / 100) || guess[$1] > $2 * (1 + percent / 100)) bad = 1 }
		END { exit bad || n != 5 }' - made; then
		cat guess made
		return 1
	fi
}

@test "--dry-run predicts what good and bad corpora make" {
	documents 0 1500 >good
	grep -v '^$' good >one				# one huge document
	{ documents 2000 300; cat one; } >both
	sed '/^$/d; G' good >single			# sentences alone
	foretold 1 good
	foretold 1 good --max-seq-length 512 --max-predictions-per-seq 76 --dupe-factor 2
	foretold 1 good --masking dynamic
	foretold 3 good --pairs none --shards 40
	foretold 1 good --pairs sop
	foretold 1 good --compress 0 --shards 3
	foretold 1 one
	foretold 1 both
	foretold 1 single --dupe-factor 2
	foretold 3 good --memory 16M
	zstd -q good
	foretold 1 good.zst
	shard -q --dry-run good >guess
	shard -q --dry-run <good | diff <(sed /time/d guess) <(sed /time/d -)
}

# exactly FILES... -- ARGUMENTS...: --dry-run says to the last instance what --compat google makes.
exactly() {
	local files=()
	while [ "$1" != -- ]; do files+=("$1"); shift; done
	shift
	rm -rf out
	shard -q --dry-run --compat google "$@" "${files[@]}" >guess
	shard -q --compat google -o out "$@" "${files[@]}"
	jq -r '"documents \(.corpus.documents)", "instances \(.totals.instances)", "predictions \(.totals.predictions)",
		"shards \(.shards | length)"' out/manifest.json >made
	awk '/^(documents|instances|predictions|shards) / { print $1, $2 }' guess | diff - made
}

@test "--dry-run predicts Google's instances exactly" {
	documents 0 300 >b.txt
	documents 300 77 | sed '$d' >c.txt		# the last document goes on in the next file
	documents 400 120 >a.txt
	bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs -o d.tok <(documents 600 50)
	exactly b.txt c.txt a.txt -- --dupe-factor 1
	exactly b.txt c.txt a.txt -- --dupe-factor 3 --whole-word-mask --shards 7
	exactly a.txt c.txt b.txt -- --dupe-factor 2 --max-seq-length 64 --max-predictions-per-seq 10 --seed 3
	exactly b.txt d.tok a.txt -- --dupe-factor 2 --whole-word-mask
	cat b.txt c.txt | shard -q --dry-run --compat google >guess
	shard -q --dry-run --compat google b.txt c.txt | diff <(sed /time/d guess) <(sed /time/d -)
}

@test "--compat google refuses a document that is too long before it is held" {
	yes abcd | head -n 6000000 | tr '\n' ' ' >in
	exits 1 shard --compat google --memory 64M -o out in
	says "the document at byte 0 has 30000000 bytes of text, which do not fit"
}

@test "--dry-run says where --compat google would be refused, and so does the run, first" {
	documents 0 6000 >in
	exits 0 shard --dry-run --compat google --memory 17M --dupe-factor 40 in
	says "--compat google would be refused: it holds all in memory, and needs about"
	says "its instances are an estimate"
	exits 1 shard --compat google --memory 17M --dupe-factor 40 -o out in
	[[ "${lines[0]}" == *"by the size of the input, --compat google needs about "*" MiB, and --memory is less" ]]
	says "--compat google holds all in memory, and needs about"
	foretold 0.1 in --compat google --dupe-factor 2
}

@test "--dry-run refuses a document that is too large as the run does" {
	{ documents 0 20; yes "a b" | head -n 600000; } >in
	exits 1 shard --memory 16M -o out in
	refusal=$output
	says "which do not fit: give more --memory"
	exits 1 shard --memory 16M --dry-run in
	[ "$(tail -n 1 <<<"$output")" = "$refusal" ]
}

@test "--dry-run predicts Google's tables, which every shard has, and warns of them" {
	documents 0 1500 >in
	foretold 1 in --compat google --shards 20 --dupe-factor 2
	exits 0 shard --dry-run --compat google --shards 20 --dupe-factor 1 in
	says "of these bytes are tables of documents: every shard names all of them, so fewer --shards take less"
	exits 0 shard --dry-run --compat google --dupe-factor 10 in
	[[ "$output" != *"are tables of documents"* ]]
	exits 0 shard --compat google --shards 20 --dupe-factor 1 -o many in
	says "of the bytes will be tables of documents: every shard names all of them, so fewer --shards take less"
	exits 0 shard --compat google --shards 2 --dupe-factor 10 -o few in
	[ -z "$output" ]
}

@test "--dry-run scales a large input by what it read of it" {
	documents 0 3000 >some
	for i in $(seq 75); do cat some; done >in
	[ "$(stat -c %s in)" -gt 67108864 ]
	foretold 5 in --dupe-factor 1
	read -r _ share _ < <(sed 's/%//' guess)
	awk -v share="$share" -v bytes="$(stat -c %s in)" 'BEGIN { exit !(share > 80 * 33554432 / bytes && share < 110 * 33554432 / bytes) }'
}

@test "--dry-run tells the index and what is spilled" {
	work() { sed -n "s/^$1 *\([0-9]*\) bytes/\1/p" <<<"$output"; }
	documents 0 6000 >in
	exits 0 shard --dry-run -q in
	[ "$(work 'work files')" = 0 ]
	[ "$(work 'in --tmp')" = 0 ]
	exits 0 shard --dry-run -q --stage index -o out in
	[ ! -e out ]
	shard --stage index -o out in
	awk -v is="$(stat -c %s out/.work/index*)" -v said="$(work 'work files')" 'BEGIN { exit !(said > 0.95 * is && said < 1.05 * is) }'
	exits 0 shard --dry-run -q --memory 16M --dupe-factor 40 in
	[ "$(work 'in --tmp')" -gt 4000000 ]
	[ "$(work 'work files')" -gt 0 ]
}

# giant MEGABYTES: about as many of one document, as text (giant.txt) and as JSON lines (giant.jsonl).
giant() {
	documents 0 3000 | grep . >part
	for ((i = $(stat -c %s part); i < $1 * 1000000; i += $(stat -c %s part))); do cat part; done >giant.txt
	jq -Rsc '{id: 7, title: "Giant", text: .}' giant.txt >giant.jsonl
}

# peak ARGUMENTS...: of shard, the memory in KiB into $peak, what it says into $output.
peak() {
	command time -o peak -f %M bert-shard --vocab "$DATA/man/vocab.txt" "$@" >said 2>&1 || true
	output=$(cat said)
	peak=$(tail -n 1 peak)
}

@test "a giant document costs as JSON what it costs as text" {
	local text
	grep -q "__[at]san_init" "$BIN/bert-shard" && skip "the sanitizer's memory counts, too"
	giant 12
	peak --threads 1 --memory 128M --dupe-factor 1 --max-seq-length 64 -o text giant.txt
	text=$peak
	peak --threads 1 --memory 128M --dupe-factor 1 --max-seq-length 64 --from jsonl -o json giant.jsonl
	echo "KiB: text $text, JSON $peak"
	[ "$peak" -le $((text * 11 / 10)) ]
	[ "$(bert-cat text | cksum)" = "$(bert-cat json | cksum)" ]
}

@test "a giant document that does not fit is refused before it takes more than --memory, and what would do is named" {
	local form need
	grep -q "__[at]san_init" "$BIN/bert-shard" && skip "the sanitizer's memory counts, too"
	giant 15
	for form in txt jsonl; do
		for memory in 24 50; do		# a text beyond a third of it; tokens beyond a quarter of what is for sorting
			peak --threads 1 --memory ${memory}M --from "${form/txt/text}" -o out giant.$form
			echo "$form, $memory: $peak KiB"
			says "'giant.$form': the document at byte 0 has"
			[ "$memory" = 24 ] || says "bytes of tokens, which do not fit: give more --memory"
			[ "$memory" = 50 ] || says "bytes of text, which do not fit: give more --memory"
			[ "$peak" -le $((memory * 1024)) ]
			need=$(sed -nE 's/.*more --memory, ([0-9]+M) or so/\1/p' <<<"$output")
			[ ! -e out/manifest.json ]
			rm -rf out
		done
		shard --threads 1 --memory "$need" --dupe-factor 1 --max-seq-length 64 --from "${form/txt/text}" -o "$form" giant.$form
	done
	cat giant.jsonl giant.jsonl | sed '1s/^/{"text": "Small."}\n/' >later.jsonl
	exits 1 shard --memory 24M --from jsonl -o out later.jsonl
	says "'later.jsonl': the document at byte 19 has $(($(stat -c %s giant.jsonl) - 1)) bytes of text"
}
