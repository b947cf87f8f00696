# bert-stat: numbers that agree with the files and texts, and warnings.

load helpers

shards() {
	local dir=$1
	shift
	bert-shard --vocab "$DATA/man/vocab.txt" --shards 2 --max-seq-length 64 --max-predictions-per-seq 10 --dupe-factor 2 "$@" -o "$dir" "$DATA/man/corpus.txt"
}
tokens() { bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs "$@" >c.tok; cp "$DATA/man/vocab.txt" .; }

@test "the numbers of shards are those of their instances" {
	shards s
	bert-stat s >stat
	bert-cat s >cat
	field() { jq "$1" stat; }
	[ "$(field .instances)" -eq "$(wc -l <cat)" ]
	[ "$(field .documents)" -eq 12 ]
	[ "$(field .tokens)" -eq "$(bert-tokenize --vocab "$DATA/man/vocab.txt" "$DATA/man/corpus.txt" | wc -w)" ]
	[ "$(field .sentences)" -eq "$(grep -c . "$DATA/man/corpus.txt")" ]
	[ "$(field .instance_tokens)" -eq "$(jq -s 'map(.input_ids | length) | add' cat)" ]
	[ "$(field .predictions)" -eq "$(jq -s 'map(.masked_lm_ids | length) | add' cat)" ]
	jq -e --slurpfile c cat '((.random_next_share - (($c | map(.next_sentence_label) | add) / ($c | length))) | fabs) < 1e-5' stat >/dev/null
	jq -e '((.padding_share - (1 - .instance_tokens / (.instances * 64))) | fabs) < 1e-5 and ((.mask_rate - .predictions / .instance_tokens) | fabs) < 1e-5' stat >/dev/null
	[ "$(jq '.lengths | add' stat)" -eq "$(field .instances)" ]
	[ "$(jq '.lengths["61-64"]' stat)" -eq "$(jq -s 'map(select((.input_ids | length) > 60)) | length' cat)" ]
	jq -e --slurpfile c cat '((.mask_kinds.mask * .predictions) | round) == ($c | map(. as $i | [.masked_lm_positions[] | $i.input_ids[.]] | map(select(. == 4)) | length) | add)' stat >/dev/null
	jq -e '.sentence_lengths == null and (.warnings | type) == "array"' stat >/dev/null
	bert-stat --threads 1 s | cmp - stat
	bert-stat s/*.shard | cmp - stat
}

@test "dynamic shards have no mask rate" {
	shards s --masking dynamic --dupe-factor 1
	bert-stat s | jq -e '.predictions == 0 and .mask_rate == null and .instances > 0' >/dev/null
}

@test "token documents: lengths of sentences, [UNK]" {
	tokens "$DATA/man/corpus.txt"
	bert-stat c.tok >stat
	jq -e '(.sentence_lengths | add) == .sentences and .instances == 0 and .padding_share == null and .unk_share == 0' stat >/dev/null
	bert-stat - <c.tok | cmp - stat
	printf 'Alice \xe6\x97\xa5 and \xe6\x9c\xac.\n\n' >odd
	tokens odd
	bert-stat c.tok | jq -e '((.unk_share - 2 / .tokens) | fabs) < 1e-5' >/dev/null
}

@test "several paths add up" {
	shards s
	tokens "$DATA/man/corpus.txt"
	[ "$(bert-stat s c.tok c.tok | jq .documents)" -eq 36 ]
}

@test "a blank line after every sentence is warned of, in the JSON and on stderr" {
	sed G "$DATA/man/corpus.txt" >spaced
	tokens spaced
	bert-stat c.tok >out 2>err
	jq -e '.warnings | any(test("have one sentence: is there a blank line after every sentence"))' out >/dev/null
	grep -q '^bert-stat: .*documents have one sentence' err
	bert-stat -q c.tok >quiet 2>err
	[ ! -s err ]
	cmp out quiet
}

@test "paragraphs on lines, and another language, are warned of" {
	tokens "$DATA/man/paragraphs.txt"
	bert-stat c.tok 2>/dev/null | jq -e '.warnings | any(test("tokens on average: is a paragraph on every line"))' >/dev/null
	for i in $(seq 30); do printf 'Κ\xce\xb1λημέρα %s.\n' "$i"; done >greek
	tokens greek
	bert-stat c.tok 2>/dev/null | jq -e '.warnings | any(test("of the tokens are \\[UNK\\]"))' >/dev/null
}

@test "masks that are cut, or can never be so many" {
	shards s --max-predictions-per-seq 3
	bert-stat s 2>/dev/null | jq -e '.warnings | any(test("max_predictions_per_seq cuts masks from"))' >/dev/null
	rm -rf s
	shards s --max-predictions-per-seq 60
	bert-stat s 2>/dev/null | jq -e '.warnings | any(test("no instance can have more than 10 masks"))' >/dev/null
}

@test "without the vocabulary [UNK] is not counted, and that is said" {
	bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs "$DATA/man/corpus.txt" >c.tok
	bert-stat c.tok 2>err >out
	jq -e '.unk_share == null' out >/dev/null
	grep -q 'was not counted' err
	bert-stat --vocab "$DATA/man/vocab.txt" c.tok 2>err | jq -e '.unk_share == 0' >/dev/null
	[ ! -s err ]
}

@test "damage: exit 3, nothing on stdout" {
	shards s
	truncate -s -5 s/shard-00001-of-00002.shard
	status=0; bert-stat s >out 2>err || status=$?
	[ $status -eq 3 ]
	[ ! -s out ]
	grep -q "s/shard-00001-of-00002.shard" err
	exits 3 bert-stat /dev/null
	exits 1 bash -c 'bert-stat s/shard-00000-of-00002.shard > /dev/full'
}

@test "a vocabulary of another casing is warned of" {
	sed 's/^[a-z]/\U&/' "$DATA/man/vocab.txt" >capitals.txt
	bert-shard --vocab capitals.txt -o lowered "$DATA/man/corpus.txt"
	bert-stat lowered 2>err >/dev/null
	grep -q "casing and vocabulary do not go together" err
	bert-shard --vocab capitals.txt --cased -o right "$DATA/man/corpus.txt"
	bert-stat right 2>err >/dev/null
	not grep -q "casing and vocabulary" err
	bert-shard --vocab "$DATA/man/vocab.txt" --cased -o cased "$DATA/man/corpus.txt"
	bert-stat cased 2>err >/dev/null
	grep -q "casing and vocabulary do not go together" err
	bert-tokenize --vocab "$DATA/man/vocab.txt" --cased --to docs -o in.tok "$DATA/man/corpus.txt"
	bert-stat --vocab "$DATA/man/vocab.txt" in.tok 2>err >/dev/null
	grep -q "in 1 files casing" err
	exits 1 bert-stat --vocab capitals.txt cased
}

# --- what users fall into: each mistake is made on a corpus about which there is nothing to say ---

# good: 48 documents of several sentences, all different.
good() {
	for i in 1 2 3 4; do
		sed "s/the /t$i /g; s/ and / an$i /g" "$DATA/man/corpus.txt"
		echo
	done
}

# warnings_of TEXT [OPTIONS]: those of its token documents and of its shards, a line each, without doubles. Of the text they must be those of
# its token documents.
warnings_of() {
	local text=$1
	shift
	rm -rf w.tok w
	bert-tokenize --vocab vocab.txt --to docs "$@" -o w.tok "$text"
	bert-shard -q --vocab vocab.txt "$@" --dupe-factor 1 --max-seq-length 64 --max-predictions-per-seq 10 -o w w.tok
	bert-stat -q w.tok >w.json
	bert-stat -q --vocab vocab.txt "$@" "$text" | jq .warnings >of-text
	jq .warnings w.json | cmp - of-text || return 1
	bert-stat -q w >>w.json
	jq -r '.warnings[]' w.json | sort -u
}

# only TEXT: the file "said" has lines, and all hold that.
only() {
	[ -s said ] && ! grep -qv -- "$1" said || { echo "not only: $1"; cat said; return 1; }
}

setup_good() {
	good >good.txt
	bert-vocab -q --size 900 good.txt -o vocab.txt
}

@test "nothing is said of a corpus that is as it should be" {
	setup_good
	warnings_of good.txt >said
	[ ! -s said ] || { cat said; return 1; }
	bert-vocab -q --cased --size 900 good.txt -o vocab.txt
	warnings_of good.txt --cased >said
	[ ! -s said ] || { cat said; return 1; }
}

@test "a blank line after every sentence; documents of one sentence among others" {
	setup_good
	sed G good.txt >spaced
	warnings_of spaced >said
	grep -q "have one sentence: is there a blank line after every sentence?" said
	grep -q "100 % of the instances have a random next" said
	# Two of three documents have one sentence.
	{ cat good.txt; grep . good.txt | tac | awk 'NR % 2 { print $0 " again\n" }' | head -n 192; } >titles
	warnings_of titles >said
	grep -q "96 of 144 documents have one sentence: nothing follows in them" said
	not grep -q "blank line after every" said
	# One of three has.
	{ cat good.txt; grep . good.txt | tac | awk 'NR % 2 { print $0 " again\n" }' | head -n 48; } >few
	warnings_of few >said
	not grep -q "one sentence:" said
}

@test "paragraphs as documents, and on lines" {
	setup_good
	awk '!NF || ++n % 3 == 0 { print; if (NF) print ""; next } { print }' good.txt | cat -s >paragraphs
	warnings_of paragraphs >said
	grep -q "of the documents have at most three sentences: are paragraphs taken for documents?" said
	warnings_of good.txt >said
	not grep -q "paragraphs taken for documents" said
	awk -v RS= '{ gsub("\n", " "); print; print "" }' good.txt >lines
	warnings_of lines >said
	grep -q "is a paragraph on every line?" said
}

@test "cased text with an uncased vocabulary, lower-cased text with a cased one; scripts without case" {
	setup_good
	warnings_of good.txt --cased >said
	grep -q "casing and vocabulary do not go together" said
	grep -q "of the tokens are \[UNK\]" said
	bert-vocab -q --cased --size 900 good.txt -o vocab.txt
	warnings_of good.txt >said
	only "casing and vocabulary do not go together"
	# Greek: capitals are known in all scripts.
	sed 'y/abcdefghijklmnoprstuvxyzABCDEFGHIJKLMNOPRSTUVXYZ/αβγδεζηθικλμνξοπρστυφχψωΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ/' good.txt >greek
	bert-vocab -q --size 900 greek -o vocab.txt
	warnings_of greek >said
	[ ! -s said ] || { cat said; return 1; }
	warnings_of greek --cased >said
	grep -q "casing and vocabulary do not go together" said
	# Chinese has no capitals to miss.
	{ printf '[UNK]\n[CLS]\n[SEP]\n[MASK]\n'; grep -o . "$DATA/man/chinese.txt" | sort -u; } >vocab.txt
	warnings_of "$DATA/man/chinese.txt" --cased >said
	[ ! -s said ] || { cat said; return 1; }
}

@test "[UNK]: another language, and a few odd words" {
	setup_good
	sed '7s/$/ 日/; 90s/$/ 本/' good.txt >odd
	warnings_of odd >said
	[ ! -s said ] || { cat said; return 1; }
	sed 's/e /日 /g' good.txt >more
	warnings_of more >said
	only "of the tokens are \[UNK\]: is the vocabulary of this language and casing?"
}

@test "duplicate documents" {
	setup_good
	{ cat good.txt; head -n 6 good.txt; } >twice
	warnings_of twice >said
	only "1 of 49 documents repeat another one word for word"
	{ for i in 1 2 3; do sed "s/ a / a$i /g; s/ of / of$i /g; s/ I / I$i /g; s/ to / to$i /g; s/ in / in$i /g" good.txt; done; head -n 6 good.txt; } >rare	# fewer than one in a hundred
	warnings_of rare >said
	not grep -q "repeat another" said
}

@test "one huge document, and one document only" {
	setup_good
	for i in $(seq 20); do sed "s/ of / o$i /g" good.txt; done | grep . >huge
	cat good.txt - huge <<<'' >both
	warnings_of both >said
	grep -q "one document holds .* % of all tokens: are the blank lines between documents missing?" said
	for i in $(seq 20); do sed "s/ of / o$i /g" good.txt; echo; done >apart
	warnings_of apart >said
	not grep -q "one document holds" said
	grep . good.txt >single
	warnings_of single >said
	grep -q "0 % of the instances have a random next: was there no other document" said
	rm -rf w
	bert-shard -q --vocab vocab.txt --pairs none --dupe-factor 1 -o w single
	bert-stat w 2>&1 >/dev/null | grep -c "random next" | grep -qx 0
	rm -rf w
	bert-shard -q --vocab vocab.txt --random-next 0.1 --dupe-factor 1 -o w good.txt
	bert-stat w 2>&1 >/dev/null | grep -c "random next" | grep -qx 0
}

@test "a folder that lacks shards is counted with a warning" {
	shards s
	rm s/shard-00000-of-00002.shard
	exits 0 bert-stat -o got s
	says "'s' is not complete: 1 of its 2 shards is missing or of another size, number 0"
	[ "$(jq '.files' got)" -eq 1 ]
	jq -e '.warnings[0] | startswith("'"'s' is not complete"'")' got
	rm s/manifest.json
	cp s/shard-00001-of-00002.shard s/shard-00000-of-00002.shard
	exits 3 bert-stat s
	says "'s/shard-00000-of-00002.shard' is shard 1 of 2, in the place of shard 0 of 2"
}

# --- text ---------------------------------------------------------------------------------------------

# of_text TEXT [OPTIONS]: its numbers are those of its token documents; they are left in "stat".
of_text() {
	local text=$1
	shift
	bert-tokenize -q "$@" --to docs -o t.tok "$text"
	bert-stat -q "$@" "$text" >stat
	bert-stat -q --vocab vocab.txt t.tok | jq 'del(.bytes)' >of-documents
	jq 'del(.bytes, .distinct_unknown_words, .unknown_words)' stat | diff of-documents -
}

# unknown: the unknown words in "stat", as --explain has them, sorted: a count and a word a line.
unknown() { jq -r '.unknown_words[] | "\(.count) \(.word)"' stat; }
explained() {
	bert-tokenize -q --explain "$@" | awk -F'\t' '$3 == "[UNK]" { print $2 }' | sort | uniq -c | sed 's/^ *//' | LC_ALL=C sort -k1,1nr -k2
}

@test "text: the numbers of its token documents, and the unknown words" {
	cp "$DATA/man/vocab.txt" .
	of_text "$DATA/man/corpus.txt" --vocab vocab.txt
	jq -e '.documents == 12 and .unk_share == 0 and .distinct_unknown_words == 0 and .unknown_words == []' stat
	of_text "$DATA/man/chinese.txt" --vocab vocab.txt
	[ "$(jq '.unknown_words | length' stat)" -eq 20 ]
	unknown >said
	explained --vocab vocab.txt "$DATA/man/chinese.txt" >all
	head -n 20 all | cmp - said
	[ "$(jq .distinct_unknown_words stat)" -eq "$(wc -l <all)" ]
	bert-stat -q --vocab vocab.txt --unknown-words 100000 "$DATA/man/chinese.txt" >stat
	unknown | cmp - all
	bert-stat -q --vocab vocab.txt --unknown-words 0 "$DATA/man/chinese.txt" | jq -e '.unknown_words == [] and .distinct_unknown_words > 20'
	printf 'Alice \xf0\x9f\x98\x80 and \xf0\x9f\x98\x80\xe2\x80\x8d\xf0\x9f\x8e\x93, \xc3\x89\xe6\x97\xa5 \xe2\x98\x83.\n' >emoji
	of_text emoji --vocab vocab.txt
	explained --vocab vocab.txt emoji >all
	unknown | cmp - all
	grep -qx $'1 \xf0\x9f\x98\x80\xf0\x9f\x8e\x93' all
}

@test "unknown words: equally frequent ones in the order of their bytes, cased ones as they are" {
	cp "$DATA/man/vocab.txt" .
	printf '\u65e5 \u0416 \u0410 \u65e5 \u0431 \u0436\n' >odd
	of_text odd --vocab vocab.txt
	[ "$(unknown | tr '\n' ,)" = $'2 \u0436,2 \u65e5,1 \u0430,1 \u0431,' ]
	of_text odd --vocab vocab.txt --cased
	[ "$(unknown | tr '\n' ,)" = $'2 \u65e5,1 \u0410,1 \u0416,1 \u0431,1 \u0436,' ]
	bert-stat -q --vocab vocab.txt --unknown-words 1 odd >stat
	[ "$(unknown)" = $'2 \u0436' ]
	mkdir model
	cp vocab.txt model
	echo '{"do_lower_case": false}' >model/tokenizer_config.json
	bert-stat -q --model model odd >stat
	[ "$(unknown | head -n 1)" = $'2 \u65e5' ]
	bert-stat -q --model model t.tok | jq -e '.unk_share > 0.9'
	exits 2 bert-stat --model model --cased odd
	exits 2 bert-stat --model model --vocab vocab.txt odd
}

@test "long words: 200 characters are looked up, longer ones are named by their beginning" {
	cp "$DATA/man/vocab.txt" .
	long() { printf "%${1}s" "" | tr ' ' a; }
	long 100 >text; echo >>text
	long 200 >>text; echo >>text
	long 201 >>text; echo >>text
	{ long 1000000; echo b; long 1000000; echo c; long 1000000; echo b; } >>text
	bert-stat -q --vocab vocab.txt text >stat
	jq -e '(.unknown_words | map([(.word | length), .count, .bytes])) == [[100, 2, 1000001], [100, 1, 201], [100, 1, 1000001]]' stat || { cat stat; return 1; }
	# Where single letters are no tokens, 100 and 200 of them are words as others.
	printf '[UNK]\n[CLS]\n[SEP]\n[MASK]\nb\n' >vocab.txt
	head -n 3 text >short
	bert-stat -q --vocab vocab.txt short >stat
	jq -e '(.unknown_words | map([(.word | length), .bytes])) == [[100, null], [100, 201], [200, null]]' stat || { cat stat; return 1; }
}

@test "text: ill-formed UTF-8, an empty file, JSON lines, packed, joined" {
	cp "$DATA/man/vocab.txt" .
	printf 'Alice \xff\xe6 was.\n' >bad
	exits 0 bert-stat --vocab vocab.txt -o stat bad
	says "ill-formed UTF-8 was replaced by U+FFFD in 2 places, first in 'bad' at byte 6"
	jq -e '.warnings | length == 1' stat
	exits 3 bert-stat --vocab vocab.txt --strict bad
	says "'bad'"
	: >empty
	bert-stat --vocab vocab.txt empty >stat
	jq -e '.files == 1 and .documents == 0 and .unknown_words == [] and .warnings == []' stat
	exits 3 bert-stat empty
	echo '{"id": "1", "title": "One", "text": "Alice \u2603.\nShe was."}' >lines.jsonl
	exits 2 bert-stat --vocab vocab.txt lines.jsonl
	says "--from jsonl"
	of_text lines.jsonl --vocab vocab.txt --from jsonl
	jq -e '.sentences == 2 and .largest_document.title == "One" and .unknown_words[0].word == "\u2603"' stat
	echo '{"text": "\ud83d"}' >half
	exits 0 bert-stat --vocab vocab.txt --from jsonl half
	says "lone halves of surrogate pairs"
	bert-stat --vocab vocab.txt "$DATA/man/corpus.txt" >whole
	gzip -c "$DATA/man/corpus.txt" >packed.gz
	bert-stat --vocab vocab.txt packed.gz | cmp - whole
	bert-stat --vocab vocab.txt <"$DATA/man/corpus.txt" | cmp - whole
	bert-stat --vocab vocab.txt <(cat "$DATA/man/corpus.txt") | cmp - whole
	head -n 3 "$DATA/man/corpus.txt" >one
	tail -n +4 "$DATA/man/corpus.txt" >two
	bert-stat --vocab vocab.txt one two >stat
	jq '.files = 1' stat | jq -S 'del(.bytes_per_token)' | cmp - <(jq -S 'del(.bytes_per_token)' whole)
	tokens "$DATA/man/corpus.txt"
	shards s
	bert-stat --vocab vocab.txt one two c.tok s "$DATA/man/corpus.txt" 2>/dev/null | jq -e '.files == 6 and .documents == 48 and .unknown_words == []'
}

@test "text: neither threads nor memory show" {
	cp "$DATA/man/vocab.txt" .
	# 150,000 different words, which do not fit in 1 MiB, some of them long ones
	awk 'BEGIN { for (i = 0; i < 300000; i++) printf "\316\261%d%s%s", i % 150000, i % 7 ? "\316\262" : "\316\263\316\264\316\265\316\266\316\267\316\270", i % 50 ? " " : i % 500 ? "\n" : "\n\n" }' >many
	for memory in 1M 256M; do
		for threads in 1 2 3; do
			bert-stat -q --vocab vocab.txt --unknown-words 1000 --memory $memory --threads $threads many >"stat.$memory.$threads"
			cmp stat.1M.1 "stat.$memory.$threads"
		done
	done
	jq -e '.distinct_unknown_words > 150000 and (.unknown_words | length) == 1000' stat.1M.1
}

@test "text without a vocabulary, closed input, a folder, a file that is not there" {
	exits 2 bert-stat "$DATA/man/corpus.txt"
	says "'$DATA/man/corpus.txt' is text: --vocab FILE or --model DIR says how to tokenize it"
	exits 2 bash -c 'bert-stat <"$DATA/man/corpus.txt"'
	says "'standard input' is text: --vocab FILE or --model DIR says how to tokenize it"
	exits 2 bert-stat --cased c.tok
	says "--cased is about text: it goes with --vocab or --model"
	exits 1 bash -c 'bert-stat --vocab "$DATA/man/vocab.txt" <&-'
	says "standard input"
	mkdir folder
	exits 1 bert-stat --vocab "$DATA/man/vocab.txt" folder
	says "'folder'"
	exits 1 bert-stat --vocab "$DATA/man/vocab.txt" absent
	says "'absent'"
	exits 1 bert-stat --vocab absent "$DATA/man/corpus.txt"
	# What is named as a framed file is one: damage does not make it text.
	bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs -o c.tok "$DATA/man/corpus.txt"
	printf X | dd of=c.tok conv=notrunc status=none
	exits 3 bert-stat --vocab "$DATA/man/vocab.txt" c.tok
	exits 3 bert-stat c.tok
	cp c.tok c.data
	exits 3 bert-stat c.data
	printf '\x89BT' >c.data
	exits 3 bert-stat c.data
	# a first piece of text that ends within a character
	{ printf '%63s' a; printf '\u2603\n'; } >text
	exits 2 bert-stat text
}
