# bert-split: held-out documents.

load helpers

# many N: N documents, each different.
many() { for i in $(seq 1 "$1"); do printf 'Document %d.\nIt has %d words.\n\n' "$i" "$((i * i))"; done; }

# lines: the text lines of all files given, sorted.
lines_of() { cat "$@" | grep . | sort; }

# documents FILE: how many it holds.
documents() { awk 'BEGIN { RS = "" } END { print NR }' "$1"; }

@test "every document goes to one file, in about the shares asked for" {
	many 1000 >in
	bert-split -o out --split dev=0.1 --split test=0.2 in
	[ "$(ls out | tr '\n' ' ')" = "dev.txt split.json test.txt train.txt " ]
	cmp <(lines_of in) <(lines_of out/*.txt)
	[ "$(documents out/dev.txt)" -gt 60 ]
	[ "$(documents out/dev.txt)" -lt 140 ]
	[ "$(documents out/test.txt)" -gt 150 ]
	[ "$(documents out/test.txt)" -lt 250 ]
	[ "$(($(documents out/dev.txt) + $(documents out/test.txt) + $(documents out/train.txt)))" -eq 1000 ]
}

@test "order, division, packing and line ends of the input play no part" {
	many 200 >in
	bert-split -o one --split dev=0.2 in
	awk 'BEGIN { RS = ""; ORS = "\r\n\r\n" } NR % 2 { print } !(NR % 2) { later[NR] = $0 } END { for (i in later) print later[i] }' in |
		sed 's/\([^\r]\)$/\1\r/' >mixed
	head -n 301 mixed >a
	tail -n +302 mixed | gzip >b.gz
	bert-split --threads 2 -o two --split dev=0.2 a b.gz
	cmp <(lines_of one/dev.txt) <(lines_of two/dev.txt)
	cmp <(lines_of one/train.txt) <(lines_of two/train.txt)
	bert-split -o three --split dev=0.2 <in
	cmp one/dev.txt three/dev.txt
	cmp one/train.txt three/train.txt
}

@test "equal documents stay together" {
	for i in $(seq 1 50); do many 20; done | bert-split -o out --split dev=0.5
	[ "$(($(documents out/dev.txt) % 50))" -eq 0 ]
	[ -z "$(comm -12 <(lines_of out/dev.txt | sort -u) <(lines_of out/train.txt | sort -u))" ]
}

@test "a further split takes documents from train only" {
	many 300 >in
	bert-split -o one --split dev=0.1 in
	bert-split -o two --split dev=0.1 --split test=0.1 in
	cmp one/dev.txt two/dev.txt
	cmp <(lines_of one/train.txt) <(lines_of two/train.txt two/test.txt)
}

@test "another seed holds out others" {
	many 300 >in
	bert-split -o one --split dev=0.1 in
	bert-split -o same --seed 12345 --split dev=0.1 in
	bert-split -o other --seed 7 --split dev=0.1 in
	cmp one/dev.txt same/dev.txt
	not cmp -s one/dev.txt other/dev.txt
}

@test "usage errors" {
	exits 2 bert-split --split dev=0.1 /dev/null
	says "give one with -o"
	exits 2 bert-split -o out /dev/null
	says "--split NAME=FRACTION"
	for bad in dev =0.1 ./dev=0.1 a/b=0.1 train=0.1 dev=2 dev=0 dev=x dev=; do
		exits 2 bert-split -o out --split "$bad" /dev/null
	done
	exits 2 bert-split -o out --split dev=0.1 --split dev=0.1 /dev/null
	says "two splits are named 'dev'"
	exits 2 bert-split -o out --split dev=0.5 --split test=0.5 /dev/null
	says "leave nothing for 'train'"
	[ ! -e out ]
}

@test "no documents: failure, and no files" {
	exits 1 bert-split -o out --split dev=0.1 /dev/null
	says "no documents were found"
	nothing_in out
	printf '\n \n\n' | exits 1 bert-split -o out --split dev=0.1
	nothing_in out
}

@test "a split that stays empty is named" {
	exits 0 bash -c 'echo One. | bert-split -o out --split dev=0.0001'
	says "no document went to 'dev'"
	[ -e out/dev.txt ]
	[ ! -s out/dev.txt ]
	[ "$(cat out/train.txt)" = "One." ]
}

@test "unfinished files are removed, earlier ones stay" {
	many 100 >in
	bert-split -o out --split dev=0.1 in
	cp -r out before
	exits 1 bert-split -o out --split dev=0.1 in /nonexistent/file
	diff -r before out
	printf 'Bad \xff.\n' >bad
	exits 3 bert-split --strict -o out --split dev=0.1 in bad
	diff -r before out
	exits 0 bert-split -o out2 --split dev=0.1 bad
	says "replaced by U+FFFD in 1 place, in 'bad' at byte 4"
	touch file
	exits 1 bert-split -o file --split dev=0.1 in
}

@test "--document-per-file" {
	printf 'One.' >a
	printf 'Two.' >b
	bert-split -q -o joined --split dev=0.0001 a b
	[ "$(documents joined/train.txt)" -eq 1 ]
	bert-split -q -o parted --document-per-file --split dev=0.0001 a b
	[ "$(documents parted/train.txt)" -eq 2 ]
}

@test "--verbose says what went where" {
	many 50 >in
	exits 0 bert-split -v -o out --split dev=0.2 in
	says "dev: $(documents out/dev.txt) documents"
	says "train: $(documents out/train.txt) documents"
	says "50 documents in 2 files"
}

@test "a folder of other options, other documents or another origin is refused, and stays as it is" {
	many 100 >in
	many 101 >more
	bert-split -o out --split dev=0.1 in
	cp -r out before
	exits 1 bert-split -o out --split dev=0.1 --seed 9 in
	says "'out' was made with another --seed"
	exits 1 bert-split -o out --split test=0.1 in
	says "'out' was made with other --split options"
	exits 1 bert-split -o out --split dev=0.2 in
	exits 1 bert-split -o out --split dev=0.1 more
	says "'out' was made with other input"
	diff -r before out
	bert-split -o out --split dev=0.1 in
	diff -r before out
	rm out/split.json
	echo Old. >out/test.txt
	exits 1 bert-split -o out --split dev=0.1 in
	says "'out' holds 'test.txt'"
	echo '{' >out/split.json
	exits 3 bert-split -o out --split dev=0.1 in
	says "split.json"
}

@test "wherever a kill or a full disk stops it, no new hold-out stands beside an old train.txt" {
	export ASAN_OPTIONS=detect_leaks=0	# the leak checker does not work under ptrace
	strace -f -o /dev/null true 2>/dev/null || skip "strace is not here, or may trace nothing"
	many 60 >in
	bert-split -o old --seed 9 --split dev=0.3 in
	rm old/split.json	# as an interrupted run leaves it; otherwise another seed is refused
	bert-split -o new --split dev=0.3 in
	for fault in rename:signal=KILL fsync:signal=KILL fsync:error=ENOSPC; do
		for n in $(seq 1 12); do
			rm -rf out
			cp -r old out
			strace -f -o /dev/null -e "trace=${fault%%:*}" -e "inject=$fault:when=$n" bert-split -q -o out --split dev=0.3 in 2>err && break
			if cmp -s old/train.txt out/train.txt; then
				cmp old/dev.txt out/dev.txt
			elif [ -e out/train.txt ]; then
				cmp new/dev.txt out/dev.txt
			fi
			bert-split -o out --split dev=0.3 in
			diff -r new out
		done
		[ "$n" -gt 2 ]
		[ "$n" -lt 12 ]
	done
}

@test "standard input twice is a usage error" {
	exits 2 bert-split -o out --split dev=0.1 - - </dev/null
	says "standard input"
}

@test "JSON lines stay as they are, on the side where their text would be" {
	many 200 >in
	jq -Rsc 'rtrimstr("\n\n") | split("\n\n") | to_entries[] | {id: .key, text: .value, more: [{text: 1}]}' in |
		sed '3s/Document/\\u0044ocument/; 5s/\.\\n/.\\r\\n\\n/' >in.jsonl
	printf '%s\r\n\n' '{"text": " \n", "title": "none"}' >>in.jsonl
	bert-split -o text --split dev=0.3 in
	bert-split -o json --from jsonl --split dev=0.3 in.jsonl
	[ "$(ls json | tr '\n' ' ')" = "dev.jsonl split.json train.jsonl " ]
	cmp <(head -n 200 in.jsonl | sort) <(sort json/*.jsonl)
	bert-split -o crlf --from jsonl --split dev=0.3 <(sed 's/$/\r/' in.jsonl)
	cmp json/dev.jsonl crlf/dev.jsonl
	for side in dev train; do
		jq -r '.text + "\n"' json/$side.jsonl | tr -d '\r' | cat -s | lines_of - | cmp - <(lines_of text/$side.txt)
	done
	[ "$(jq -c '[.documents, .keys, .splits, .from]' json/split.json)" = "$(jq -c '[.documents, .keys, .splits, "jsonl"]' text/split.json)" ]
	bert-split -o json --from jsonl --split dev=0.3 in.jsonl
	exits 1 bert-split -o text --from jsonl --split dev=0.3 in.jsonl
	says "'text' was made with another --from"
	exits 1 bert-split -o json --split dev=0.3 in
	says "'json' was made with another --from"
	exits 2 bert-split -o out --split dev=0.3 in.jsonl
	says "'in.jsonl' looks like JSON lines: give --from jsonl, or --from text"
	bert-split -o taken --from text --split dev=0.3 in.jsonl
	[ -e taken/train.txt ]
	mkdir mine && echo '{"text": "x"}' >mine/other.jsonl
	exits 1 bert-split -o mine --from jsonl --split dev=0.3 in.jsonl
	says "'mine' holds 'other.jsonl'"
}

@test "JSON lines that are none, and halves of surrogate pairs" {
	printf '{"text": "a"}\n{"text": "b", "title": []}\n' >bad
	exits 3 bert-split -o out --from jsonl --split dev=0.3 bad
	says "'bad', line 2: \"title\" is a list"
	[ ! -e out/train.jsonl ]
	echo '{"text": "a\ud800"}' >half
	bert-split -o out --from jsonl --split dev=0.3 half
	cat out/dev.jsonl out/train.jsonl | cmp - half
	exits 3 bert-split --strict -o strict --from jsonl --split dev=0.3 half
	says "'half', line 1: half of a surrogate pair stands alone"
}
