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
	[ "$(ls out | tr '\n' ' ')" = "dev.txt test.txt train.txt " ]
	cmp <(lines_of in) <(lines_of out/*)
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
	! cmp -s one/dev.txt other/dev.txt
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
	exits 1 bert-split --seed 9 -o out --split dev=0.1 in /nonexistent/file
	diff -r before out
	printf 'Bad \xff.\n' >bad
	exits 3 bert-split --seed 9 --strict -o out --split dev=0.1 in bad
	diff -r before out
	exits 0 bert-split -o out2 --split dev=0.1 bad
	says "replaced by U+FFFD, 1 times"
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
