# bert-stat: numbers that agree with the files, and warnings.

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
	exits 3 bert-stat "$DATA/man/corpus.txt"
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

# warnings_of TEXT [OPTIONS]: those of its token documents and of its shards, a line each, without doubles.
warnings_of() {
	local text=$1
	shift
	rm -rf w.tok w
	bert-tokenize --vocab vocab.txt --to docs "$@" -o w.tok "$text"
	bert-shard -q --vocab vocab.txt "$@" --dupe-factor 1 --max-seq-length 64 --max-predictions-per-seq 10 -o w w.tok
	bert-stat -q w.tok >w.json
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
