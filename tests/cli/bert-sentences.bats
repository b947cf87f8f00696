# bert-sentences: paragraphs in, sentences out.

load helpers

@test "JSON lines: ids and titles stay, the sentences are those of the text" {
	bert-extract --from text --to jsonl "$DATA/man/paragraphs.txt" | jq -c '.id = input_line_number | .title = "T" | .more = {a: [1]}' >p.jsonl
	bert-sentences --from jsonl --to jsonl p.jsonl >out
	[ "$(jq -c '[.id, .title]' out)" = "$(jq -c '[(.id | tostring), .title]' p.jsonl)" ]
	jq -r '.text + "\n"' out | cmp - <(bert-sentences --from jsonl p.jsonl)
	bert-sentences --from jsonl p.jsonl | cat -s | diff - <(bert-sentences "$DATA/man/paragraphs.txt")
	bert-sentences --to jsonl "$DATA/man/paragraphs.txt" | jq -c '[.id, .title]' | sort -u | diff - <(echo '["",""]')
	bert-sentences --to jsonl "$DATA/man/paragraphs.txt" | jq -r .text | cmp - <(jq -r .text out)
	for ((i = 0; i < 300; i++)); do cat p.jsonl; done >many
	bert-sentences --threads 1 --from jsonl --to jsonl many >one
	bert-sentences --threads 5 --from jsonl --to jsonl many | cmp one -
	[ "$(wc -l <one)" = "$(wc -l <many)" ]
}

@test "JSON lines that are none, and JSON lines that were not announced" {
	printf '{"text": "a"}\n\nbad\n' >bad
	exits 3 bert-sentences --from jsonl -o out bad
	says "'bad', line 3: not JSON"
	[ ! -e out ]
	exits 2 bert-sentences bad
	says "'bad' looks like JSON lines: give --from jsonl, or --from text"
	[ "$(bert-sentences --from text bad | head -n 1)" = '{"text": "a"}' ]
	run bert-sentences --from jsonl <<<'{"text": "a\ud800"}'
	[ "$status" -eq 0 ]
	says "lone halves of surrogate pairs were replaced by U+FFFD in 1 place"
	exits 3 bert-sentences --strict --from jsonl - <<<'{"text": "a\ud800"}'
	says "'standard input', line 1: half of a surrogate pair stands alone"
}

@test "members of JSON lines: numbers keep their digits, other kinds and second ones are refused" {
	[ "$(bert-sentences --from jsonl --to jsonl <<<'{"id": 18446744073709551616, "title": 5.50, "text": "A."}')" = \
		'{"id": "18446744073709551616", "title": "5.50", "text": "A."}' ]
	printf '{"text": "a"}\n%s\n' '{"title": {"en": "b"}, "text": "a"}' >object
	exits 3 bert-sentences --from jsonl object
	says "'object', line 2: \"title\" is an object, neither a string nor a number"
	printf '{"text": "a"}\n%s\n' '{"text": "a", "id": 1, "text": "b"}' >twice
	exits 3 bert-sentences --from jsonl twice
	says "'twice', line 2: the object has \"text\" twice"
}

# joined: the paragraphs of a file of sentences.
joined() { awk '/^$/ { print line; print ""; line = ""; next } { line = line (line == "" ? "" : " ") $0 } END { print line }' "$1"; }

# per_document: each document of a file on one line.
per_document() { awk 'BEGIN { RS = ""; FS = "\n"; OFS = "|" } { $1 = $1; print }' "$1"; }

@test "paragraphs become sentences, documents stay" {
	printf 'One. Two.\nThree!\n\nFour? Five\n' | bert-sentences >out
	printf 'One.\nTwo.\nThree!\n\nFour?\nFive\n' | diff - out
}

@test "blank lines in a row become one" {
	printf '\n \nOne. Two.\n\n\t\n\xc2\xa0\nThree.\n\n\n' | bert-sentences >out
	printf '\nOne.\nTwo.\n\nThree.\n\n' | diff - out
}

@test "empty input gives empty output" {
	bert-sentences </dev/null >out 2>err
	[ ! -s out ]
	[ ! -s err ]
}

@test "46 of the 48 English golden rules" {
	joined "$DATA/sentences/golden-en.txt" | bert-sentences >out
	per_document "$DATA/sentences/golden-en.txt" >want
	per_document out >got
	[ "$(wc -l <got)" -eq 48 ]
	diff want got | grep '^>' >wrong || true
	[ "$(wc -l <wrong)" -eq 2 ] || { cat wrong; return 1; }
	grep -q 'at 6 P.M. Mr. Smith then' wrong
	grep -q 'compounds. . . .|The practice' wrong
}

@test "the language's own abbreviations" {
	text='Er kommt am 3. Mai, z. B. mit Dr. Meyer. Gut.'
	[ "$(echo "$text" | bert-sentences --lang de | wc -l)" -eq 2 ]
	[ "$(echo "$text" | bert-sentences --lang und | wc -l)" -gt 2 ]
}

@test "an unknown language is a usage error that names the known ones" {
	exits 2 bert-sentences --lang tlh /dev/null
	says "language 'tlh' is not known"
	says " de en es "
}

@test "the man page lists the languages that there are" {
	exits 2 bert-sentences --lang tlh /dev/null
	for code in $(sed -n 's/.*known are: //p' <<<"$output"); do
		[ "$code" = und ] || sed -n '/^One of ar/p' "$TOP/tools/bert-sentences.1" | grep -qw "$code" || { echo "$code"; return 1; }
	done
}

@test "any number of threads, the same bytes" {
	for i in $(seq 1 500); do
		cat "$DATA/man/paragraphs.txt"
		echo "Paragraph $i. It ends."
	done >big.txt
	bert-sentences --threads 1 big.txt >one
	[ "$(stat -c %s one)" -gt 524288 ]
	bert-sentences --threads 2 big.txt | cmp - one
	bert-sentences --threads 7 big.txt | cmp - one
}

@test "no text is lost" {
	for file in man/paragraphs.txt man/corpus.txt sentences/golden-en.txt; do
		bert-sentences "$DATA/$file" | tr -d ' \n' >got
		tr -d ' \n' <"$DATA/$file" | cmp - got
	done
}

@test "sentences are cut no further" {
	bert-sentences "$DATA/man/paragraphs.txt" >once
	bert-sentences once | cmp - once
}

@test "files are joined; --document-per-file parts them" {
	printf 'One.' >a
	printf 'Two.\n' >b
	printf '' >c
	[ "$(bert-sentences c a c b)" = $'One.\nTwo.' ]
	bert-sentences --document-per-file c a c b c >out
	printf 'One.\n\nTwo.\n' | diff - out
}

@test "CRLF, byte-order marks, packed input" {
	printf '\xef\xbb\xbfOne. Two.\r\n\r\nThree.\r\n' | gzip >in.gz
	bert-sentences in.gz >out
	printf 'One.\nTwo.\n\nThree.\n' | diff - out
}

@test "bad UTF-8 is replaced with a warning, or refused" {
	printf 'Good.\nBad \xff. Next.\n' >in
	exits 0 bert-sentences in
	says "replaced by U+FFFD in 1 place, in 'in' at byte 10"
	bert-sentences -q in >out 2>err
	[ ! -s err ]
	printf 'Good.\nBad \xef\xbf\xbd.\nNext.\n' | diff - out
	exits 3 bert-sentences --strict -o out2 in
	says "'in'"
	[ ! -e out2 ]
}

@test "NUL bytes are text" {
	printf 'A\0b. C\0.\n' | bert-sentences >out
	printf 'A\0b.\nC\0.\n' | cmp - out
}

@test "one very long line, with and without ends" {
	head -c 20000000 /dev/zero | tr '\0' 'x' >long
	bert-sentences long | tail -c +20000001 >out
	printf '\n' | cmp - out
	head -c 3000000 /dev/zero | tr '\0' '.' >dots
	[ "$(bert-sentences dots | wc -l)" -eq 1 ]
	yes '. " . (' | head -c 3000000 | tr '\n' ' ' >stops
	timeout 20 bert-sentences stops | tr -d ' \n' | cmp - <(tr -d ' \n' <stops)
}

@test "a named output is whole or absent" {
	exits 1 bert-sentences -o out "$DATA/man/paragraphs.txt" /nonexistent/file
	[ ! -e out ]
	bert-sentences -o out "$DATA/man/paragraphs.txt"
	bert-sentences "$DATA/man/paragraphs.txt" | cmp - out
	head -c 300 <(gzip -c "$DATA/man/paragraphs.txt") >cut.gz
	exits 3 bert-sentences -o out2 cut.gz
	[ ! -e out2 ]
}

@test "--verbose counts" {
	exits 0 bash -c 'printf "One. Two.\nThree.\n" | bert-sentences -v 2>&1 >/dev/null'
	says "2 paragraphs in, 3 sentences out"
}
