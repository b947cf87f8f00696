# bert-tokenize: lines in; ids, tokens, words, offsets, documents out.

load helpers

@test "JSON lines: the tokens are those of the text, in every form" {
	local to
	jq -r '.text + "\n"' "$DATA/man/documents.jsonl" >text
	for to in ids tokens words offsets; do
		bert-tokenize --vocab "$DATA/man/vocab.txt" --to $to --from jsonl "$DATA/man/documents.jsonl" |
			cmp - <(bert-tokenize --vocab "$DATA/man/vocab.txt" --to $to text)
	done
	for to in ids docs; do
		bert-tokenize --vocab "$DATA/man/vocab.txt" --to $to --from jsonl --segmenter cat "$DATA/man/documents.jsonl" >cut
		[ "$to" = docs ] || cmp cut <(bert-tokenize --vocab "$DATA/man/vocab.txt" text)
	done
	bert-cat cut | jq -c '[.id, .title]' | diff - <(jq -c '[(.id | tostring), .title]' "$DATA/man/documents.jsonl")
	for ((i = 0; i < 300; i++)); do cat "$DATA/man/documents.jsonl"; done >many
	bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs --threads 1 --from jsonl many >one
	bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs --threads 5 --from jsonl many | cmp one -
	[ "$(bert-cat one | wc -l)" = 1200 ]
}

@test "JSON lines: long names, lines without text, bad lines, lines that were not announced" {
	local to
	jq -nc '{id: ("x" * 70000), title: ("é" * 40000), text: "a"}, {text: " \n"}, {id: "", title: "", text: "b"}' >long
	bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs --from jsonl long | bert-cat |
		jq -c '[(.id | length?), (.title | utf8bytelength?)]' | diff - <(printf '%s\n' '[65535,65534]' '[0]')
	for to in ids docs; do
		exits 3 bert-tokenize --vocab "$DATA/man/vocab.txt" --to $to --from jsonl -o out - <<<'{"id": 1}'
		says "'standard input', line 1: no string \"text\""
		exits 2 bert-tokenize --vocab "$DATA/man/vocab.txt" --to $to -o out long
		says "'long' looks like JSON lines: give --from jsonl, or --from text"
		[ ! -e out ]
		exits 3 bert-tokenize --vocab "$DATA/man/vocab.txt" --to $to --from jsonl --strict -o out - <<<'{"text": "\udc00"}'
	done
	bert-tokenize --vocab "$DATA/man/vocab.txt" --from text long >text
	[ "$(wc -l <text)" -eq 3 ]
	exits 2 bert-tokenize --vocab "$DATA/man/vocab.txt" --decode --from jsonl long
}
bats_require_minimum_version 1.5.0

VOCAB="$TOP/tests/data/vocab/bert-base-uncased.txt"

small_vocab() { printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' '[MASK]' un '##able' , able >vocab.txt; }

@test "the peers' cases: google" {
	bert-tokenize --vocab "$VOCAB" "$DATA/tokenizer/cases.txt" | diff "$DATA/tokenizer/google.ids" -
	bert-tokenize --vocab "$VOCAB" --to words "$DATA/tokenizer/cases.txt" | diff "$DATA/tokenizer/google.words" -
	bert-tokenize --vocab "$VOCAB" --cased --to words "$DATA/tokenizer/cases.txt" | diff "$DATA/tokenizer/google.cased.words" -
}

@test "the peers' cases: hf" {
	bert-tokenize --vocab "$VOCAB" --compat hf --to offsets "$DATA/tokenizer/cases.txt" | diff "$DATA/tokenizer/hf.offsets" -
	bert-tokenize --vocab "$VOCAB" --compat hf --cased --to offsets "$DATA/tokenizer/cases.txt" | diff "$DATA/tokenizer/hf.cased.offsets" -
}

@test "every form" {
	small_vocab
	printf 'Unable, able xx\n' >in
	[ "$(bert-tokenize --vocab vocab.txt in)" = '5 6 7 8 1' ]
	[ "$(bert-tokenize --vocab vocab.txt --to ids <in)" = '5 6 7 8 1' ]
	[ "$(bert-tokenize --vocab vocab.txt --to tokens in)" = 'un ##able , able [UNK]' ]
	[ "$(bert-tokenize --vocab vocab.txt --to words in)" = 'unable , able xx' ]
	[ "$(bert-tokenize --vocab vocab.txt --to offsets in)" = '5:0:2 6:2:6 7:6:7 8:8:12 1:13:15' ]
	[ "$(bert-tokenize --vocab vocab.txt --add-special in)" = '2 5 6 7 8 1 3' ]
	bert-tokenize --vocab vocab.txt --to words --offsets in >out
	printf 'unable 0 6\n, 6 7\nable 8 12\nxx 13 15\n\n' | diff - out
	bert-tokenize --vocab vocab.txt --explain in >out
	printf 'Unable\tunable\tun ##able\t5 6\n,\t,\t,\t7\nable\table\table\t8\nxx\txx\t[UNK]\t1\tno token begins xx\n\n' | diff - out
}

@test "ids back to text" {
	small_vocab
	printf 'Unable, able xx\n\n \nun\n' | bert-tokenize --vocab vocab.txt | bert-tokenize --vocab vocab.txt --decode >out
	printf 'unable, able [UNK]\n\n\nun\n' | diff - out
	[ "$(printf '2 5\t6  3' | bert-tokenize --vocab vocab.txt --decode)" = '[CLS] unable [SEP]' ]
	for bad in 9 -1 5x 0x1 99999999999999999999999999; do
		run -3 bert-tokenize --vocab vocab.txt --decode < <(printf '5\n\n6 %s 7\n' "$bad")
		[ "$output" = "bert-tokenize: line 3: '$bad' is no id below 9" ]
	done
	run -3 bert-tokenize --vocab vocab.txt --decode -o decoded < <(yes 5 | head -n 99999; echo 9)
	[ "$output" = "bert-tokenize: line 100000: '9' is no id below 9" ]
	run -2 bert-tokenize --vocab vocab.txt --decode --to ids </dev/null
	run -2 bert-tokenize --vocab vocab.txt --decode --explain </dev/null
	bert-tokenize --vocab "$VOCAB" "$DATA/tokenizer/cases.txt" >once
	for i in $(seq 200); do cat once; done >ids
	bert-tokenize --vocab "$VOCAB" --decode --threads 1 ids >one
	bert-tokenize --vocab "$VOCAB" --decode --threads 3 ids | cmp one -
}

@test "one line out for each line in, blank ones too" {
	small_vocab
	printf 'un\n\n \t\nable\r\n\n\x00\n\nun' | bert-tokenize --vocab vocab.txt >out
	printf '5\n\n\n8\n\n\n\n5\n' | diff - out
	printf 'un\n\nun' | bert-tokenize --vocab vocab.txt --add-special >out
	printf '2 5 3\n\n2 5 3\n' | diff - out
	bert-tokenize --vocab vocab.txt </dev/null >out
	[ ! -s out ]
}

@test "the same bytes for any number of threads" {
	for i in $(seq 50); do cat "$DATA/tokenizer/cases.txt" "$DATA/man/corpus.txt"; done >in
	for to in ids words docs; do
		bert-tokenize --threads 1 --vocab "$VOCAB" --to $to in >one
		for threads in 2 7; do
			bert-tokenize --threads $threads --vocab "$VOCAB" --to $to in | cmp one -
		done
	done
}

@test "documents: bert-cat shows what the text form says" {
	command -v bert-cat >/dev/null || skip "no bert-cat"
	bert-tokenize --vocab "$DATA/man/vocab.txt" --to docs -o out.tok "$DATA/man/corpus.txt"
	bert-cat out.tok >docs.json
	[ "$(wc -l <docs.json)" -eq 12 ]
	bert-tokenize --vocab "$DATA/man/vocab.txt" "$DATA/man/corpus.txt" | tr -s ' \n' '\n' | grep . >want
	grep -o '"sentences": *\[\[.*\]\]' docs.json | grep -oE '[0-9]+' >got || grep -oE '"[a-z_]*ids": *\[[^"]*' docs.json | grep -oE '[0-9]+' >got
	cmp want got
	bert-verify out.tok
}

@test "documents: levels of compression and ends of files" {
	small_vocab
	printf 'un\nable\n' >a
	printf 'able\n' >b
	bert-tokenize --vocab vocab.txt --to docs -v -o joined.tok a b 2>err
	grep -q '1 documents in, 3 tokens out' err
	bert-tokenize --vocab vocab.txt --to docs --document-per-file -v -o apart.tok a b 2>err
	grep -q '2 documents in, 3 tokens out' err
	for i in $(seq 300); do cat "$DATA/man/corpus.txt"; echo; done >in
	bert-tokenize --vocab "$VOCAB" --to docs -o raw.tok in
	bert-tokenize --vocab "$VOCAB" --to docs --compress 3 -o packed.tok in
	[ "$(stat -c %s packed.tok)" -lt $(($(stat -c %s raw.tok) / 4)) ]
}

@test "a model directory" {
	mkdir model
	printf '%s\n' '[PAD]' '[UNK]' Un un >model/vocab.txt
	echo '{"do_lower_case": false}' >model/tokenizer_config.json
	[ "$(echo Un un | bert-tokenize --model model)" = '2 3' ]
	echo '{"do_lower_case": true}' >model/tokenizer_config.json
	[ "$(echo Un un | bert-tokenize --model model)" = '3 3' ]
	rm model/tokenizer_config.json
	[ "$(echo Un un | bert-tokenize --model model)" = '3 3' ]
	echo '{"do_lower_case": 0}' >model/tokenizer_config.json
	exits 3 bert-tokenize --model model
	says "model/tokenizer_config.json"
	exits 2 bert-tokenize --model model --cased
	exits 2 bert-tokenize --model model --vocab model/vocab.txt
	exits 1 bert-tokenize --model nowhere
	says "nowhere/vocab.txt"
}

@test "the reference's flag names" {
	printf '%s\n' '[UNK]' Un un >v
	[ "$(echo Un | bert-tokenize --vocab_file=v --do_lower_case=False)" = 1 ]
	[ "$(echo Un | bert-tokenize --vocab_file=v --do_lower_case=True)" = 2 ]
	[ "$(echo Un | bert-tokenize --vocab_file v --do_lower_case)" = 2 ]
}

@test "switches of the rules" {
	printf '%s\n' '[UNK]' cafe 'café' CAFE unable >v
	[ "$(echo 'CAFÉ unable' | bert-tokenize --vocab v)" = '1 4' ]
	[ "$(echo 'CAFÉ unable' | bert-tokenize --vocab v --strip-accents no)" = '2 4' ]
	[ "$(echo 'CAFÉ unable' | bert-tokenize --vocab v --cased --strip-accents yes)" = '3 4' ]
	[ "$(echo 'CAFÉ unable' | bert-tokenize --vocab v --max-word 5)" = '1 0' ]
	[ "$(echo 'CAFÉ unable' | bert-tokenize --vocab v --max-word 6 --strip-accents auto)" = '1 4' ]
	[ "$(printf 'a\xf0\x91\xbd\x83b' | bert-tokenize --vocab v --to words | tr ' ' '\n' | wc -l)" -eq 1 ]
	[ "$(printf 'a\xf0\x91\xbd\x83b' | bert-tokenize --vocab v --to words --unicode 15.0 | tr ' ' '\n' | wc -l)" -eq 3 ]
	exits 2 bert-tokenize --vocab v --unicode 13.0
	says "13.0"
	exits 2 bert-tokenize --vocab v --unicode 14.0 --compat hf
}

@test "case, accents and Chinese characters are separate" {
	printf '%s\n' '[UNK]' cafe 'café' CAFE 'CAFÉ' '日本' '日' '本' >v
	[ "$(echo 'CAFÉ 日本' | bert-tokenize --vocab v --lower no)" = '4 6 7' ]
	[ "$(echo 'CAFÉ 日本' | bert-tokenize --vocab v --lower no --strip-accents yes --split-cjk no)" = '3 5' ]
	[ "$(echo 'CAFÉ 日本' | bert-tokenize --vocab v --lower yes --strip-accents no --split-cjk yes)" = '2 6 7' ]
	[ "$(echo 'CAFÉ' | bert-tokenize --vocab v --cased --lower no)" = 4 ]
	[ "$(echo 'CAFÉ' | bert-tokenize --vocab v --lower auto --split_cjk=auto)" = 1 ]
	exits 2 bert-tokenize --vocab v --cased --lower yes
	says "choose one"
	exits 2 bert-tokenize --vocab v --lower maybe
	mkdir model
	cp v model/vocab.txt
	echo '{"do_lower_case": false, "tokenize_chinese_chars": false}' >model/tokenizer_config.json
	[ "$(echo 'CAFÉ 日本' | bert-tokenize --model model)" = '4 5' ]
	[ "$(echo 'CAFÉ 日本' | bert-tokenize --model model --lower yes)" = '1 5' ]
	[ "$(echo 'CAFÉ 日本' | bert-tokenize --model model --split-cjk yes)" = '4 6 7' ]
}

@test "a model directory's longest word and Unicode" {
	mkdir model
	printf '%s\n' '[UNK]' abcd ab >model/vocab.txt
	printf 'ab abcd a\xf0\x91\xbd\x83b\n' >in	# U+11F43, a punctuation mark since Unicode 15
	[ "$(bert-tokenize --model model --to words in | wc -w)" -eq 3 ]
	echo '{"max_input_chars_per_word": 3, "unicode_version": "15.0"}' >model/tokenizer_config.json
	[ "$(bert-tokenize --model model in)" = '2 0 0 0 0' ]
	[ "$(bert-tokenize --model model --max-word 4 --unicode 14.0 in)" = '2 1 0' ]
	[ "$(bert-tokenize --model model --compat hf in)" = '2 0 0' ]
	for bad in '"max_input_chars_per_word": -1' '"max_input_chars_per_word": "3"' '"unicode_version": "9"' '"unicode_version": 15'; do
		echo "{$bad}" >model/tokenizer_config.json
		exits 3 bert-tokenize --model model in
		says "cannot use 'model/tokenizer_config.json': ${bad%%:*}"
	done
}

@test "tokens that are never split, as transformers' slow BertTokenizer has them" {
	local never args=()
	mapfile -t never < <(head -n 1 "$DATA/tokenizer/never-split.tsv" | tr '\t' '\n' | tail -n +2)
	for token in "${never[@]}"; do args+=(--never-split "$token"); done
	for setting in $(tail -n +2 "$DATA/tokenizer/never-split.tsv" | cut -f 1-3 | tr '\t' , | sort -u); do
		IFS=, read -r lower strip cjk <<<"$setting"
		grep -P "^$lower\t$strip\t$cjk\t" "$DATA/tokenizer/never-split.tsv" >rows
		[ "$(wc -l <rows)" -gt 40 ]
		cut -f 4 rows | bert-tokenize --vocab "$VOCAB" --max-word 100 --lower "$lower" --strip-accents "$strip" --split-cjk "$cjk" "${args[@]}" >got
		cut -f 5 rows | diff - got
	done
}

@test "tokens that are never split: from a model directory, explained, refused" {
	mkdir model
	printf '%s\n' '[UNK]' '[MASK]' C++ c + >model/vocab.txt
	echo '{"never_split": ["C++", "[MASK]"]}' >model/tokenizer_config.json
	printf 'C++ c++ [MASK]\n' >in
	[ "$(bert-tokenize --model model in)" = '2 3 4 4 1' ]
	[ "$(bert-tokenize --model model --never-split c++ in)" = '0 0 0 0 0' ]
	bert-tokenize --model model --never-split C++ --never-split c+c --explain < <(echo C++ C+C) >out
	printf 'C++\tC++\tC++\t2\tnever split\nC+C\tc+c\t[UNK]\t0\tnever split, and no token\n\n' | diff - out
	[ "$(bert-tokenize --model model --never-split C+C --to words --offsets < <(echo 'x C+C') | head -n 2 | tail -n 1)" = 'C+C 2 5' ]
	exits 2 bert-tokenize --model model --never-split 'a b'
	says "'a b'"
	exits 2 bert-tokenize --model model --never-split ''
	echo '{"never_split": ["a b"]}' >model/tokenizer_config.json
	exits 3 bert-tokenize --model model
	says 'model/tokenizer_config.json'
	echo '{"never_split": "a"}' >model/tokenizer_config.json
	exits 3 bert-tokenize --model model
}

# Seconds where a special token is looked for once; minutes where it is anew after each word.
@test "tokens that are never split, and special tokens beside them, in a long text" {
	printf '%s\n' '[UNK]' '[MASK]' C++ a b , >vocab.txt
	printf 'A, B C++ [MASK] %.0s' {1..10} >line
	bert-tokenize --vocab vocab.txt --compat hf --never-split C++ line >want
	[ "$(cut -d ' ' -f 1-10 want)" = '3 5 4 2 1 3 5 4 2 1' ]
	yes 'A, B C++' | head -n 800000 | tr '\n' ' ' >long
	timeout 60 bert-tokenize --vocab vocab.txt --compat hf --never-split C++ long >got
	[ "$(tr ' ' '\n' <got | sort | uniq -c | awk '{ print $1, $2 }' | tr '\n' ,)" = '800000 2,800000 3,800000 4,800000 5,' ]
}

@test "offsets in bytes" {
	printf '%s\n' '[UNK]' '[CLS]' '[SEP]' cafe '##s' , 日 ᄒ '##ᅡ' '##ᆫ' >v
	printf '\xef\xbb\xbf CAFÉs, 日한\n\ncafe\xff,\n' >in
	[ "$(bert-tokenize --vocab v --to offsets --offset-unit chars in 2>/dev/null | head -n 1)" = '3:2:6 4:6:7 5:7:8 6:9:10 7:10:11 8:10:11 9:10:11' ]
	bert-tokenize --vocab v --to offsets --offset-unit bytes in 2>/dev/null >out
	printf '3:4:9 4:9:10 5:10:11 6:12:15 7:15:18 8:15:18 9:15:18\n\n3:0:4 5:7:8\n' | diff - out
	bert-tokenize --vocab v --to offsets --offset-unit bytes --add-special in 2>/dev/null | head -n 1 >out
	echo '1:0:0 3:4:9 4:9:10 5:10:11 6:12:15 7:15:18 8:15:18 9:15:18 2:0:0' | diff - out
	bert-tokenize --vocab v --to words --offsets --offset-unit bytes --segmenter 'sed "s/s,/ s,/"' < <(echo 'CAFÉs, 日') >out
	printf 'cafe 0 5\ns 5 6\n, 6 7\n日 8 11\n\n' | diff - out
	bert-tokenize --vocab "$VOCAB" --to words --offsets --offset-unit bytes "$DATA/tokenizer/cases.txt" |
		cut -d ' ' -f 2- | head -n 20000 >bytes
	bert-tokenize --vocab "$VOCAB" --to words --offsets "$DATA/tokenizer/cases.txt" | cut -d ' ' -f 2- | head -n 20000 >chars
	not cmp -s bytes chars
	[ "$(wc -l <bytes)" -eq "$(wc -l <chars)" ]
	exits 2 bert-tokenize --vocab v --offset-unit bytes in
	exits 2 bert-tokenize --vocab v --to words --offset-unit chars in
}

# What the segmenters below are given, and what becomes of it.
japanese() {
	printf '%s\n' '[UNK]' 東京 の 東 京 タワー '##ー' タ '##ワー' unaff able . >v
	printf '東京の タワー\n\n unaffable　東京.\n東\n' >in
	printf '東京 の タワー\n\n unaff able東京.\n東\n' >in.cut
}

@test "a segmenter: words are its own, places those of the text" {
	japanese
	local cut=(bert-tokenize --vocab v --split-cjk no --segmenter "$TOP/tests/cli/segmenter.pl")
	for to in ids tokens words; do
		bert-tokenize --vocab v --split-cjk no --to $to in.cut >want
		"${cut[@]}" --to $to in | diff want -
	done
	[ "$("${cut[@]}" in | head -n 1)" = '1 2 5' ]
	[ "$(bert-tokenize --vocab v --split-cjk no in | head -n 1)" = '0 5' ]
	# one word goes on over the wide space, which the segmenter has left out
	printf '1:0:2 2:2:3 5:4:7\n\n9:1:6 0:6:13 11:13:14\n3:0:1\n' >want
	"${cut[@]}" --to offsets in | diff want -
	printf '東京 0 2\nの 2 3\nタワー 4 7\n\n\nunaff 1 6\nable東京 6 13\n. 13 14\n\n東 0 1\n\n' >want
	"${cut[@]}" --to words --offsets in | diff want -
	"${cut[@]}" --explain in >out
	grep -qxP 'の\tの\tの\t2' out
	grep -qxP 'able　東京\table東京\t\[UNK\]\t0\tno token begins ##.*' out
	[ "$(echo 東 | bert-tokenize --vocab v --segmenter cat --to words)" = 東 ]
	[ "$(printf 'a \x0bb\n' | bert-tokenize --vocab v --segmenter "tr -d ' '" --to words)" = ab ]
}

@test "a segmenter: the same for any number of threads, and however it reads" {
	for _ in $(seq 60); do cat "$DATA/tokenizer/cases.txt" "$DATA/man/corpus.txt"; done | tr -d '\000\r' >in
	local cut=(bert-tokenize --vocab "$VOCAB" --segmenter "$TOP/tests/cli/segmenter.pl")
	for to in ids offsets docs; do
		"${cut[@]}" --threads 1 --to $to in >one
		"${cut[@]}" --threads 5 --to $to in | cmp one -
		"${cut[@]} all" --threads 2 --to $to in >all
		[ $to = docs ] || cmp one all
	done
	bert-verify one all
	diff <(bert-cat one) <(bert-cat all)
	bert-tokenize --vocab "$VOCAB" --to docs in >uncut
	not cmp -s <(bert-cat one) <(bert-cat uncut)
	cmp <(bert-cat one | jq -r .key) <(bert-cat uncut | jq -r .key)
}

@test "a segmenter: what it does wrong is an error" {
	printf 'un\n\nable un\nun able\n' >in
	small_vocab
	fails() {	# fails CMD TEXT: with a message that has TEXT, however the output is made
		for to in ids docs; do
			exits 1 bert-tokenize --vocab vocab.txt --to $to --segmenter "$1" -o out in
			says "$2"
			[ ! -e out ]
		done
	}
	fails false "bert-tokenize: the segmenter, after 0 lines: 'false' ended with status 1"
	fails 'cat; exit 3' "ended with status 3"
	fails 'kill -9 $$' "was ended by signal 9"
	fails nonexistent-segmenter "ended with status 127"
	fails 'cat >/dev/null' "gave fewer lines than it was given, after 0 lines"
	fails 'head -n 2' "gave fewer lines than it was given, after 2 lines"
	fails 'exec <&-' "gave fewer lines"
	fails 'cat; echo' "gave more lines than it was given, after 3 lines"
	fails yes "gave more lines"
	fails 'yes | tr -d "\n"' "gave much more text"
	fails 'tr b B' "the segmenter made 'Ble un' of 'ble un'"
	fails 'sed 2d; echo un' "the segmenter made"
	fails 'sed s/un/u/' "the segmenter left out 'n'"
	fails 'sed s/un/une/' "the segmenter added 'e'"
	fails "tr n '\377'" "the segmenter gave ill-formed UTF-8"
	exits 1 bert-tokenize --vocab vocab.txt --segmenter 'tr b B' in
	says "bert-tokenize: line 3: the segmenter made"
	exits 1 bert-tokenize --vocab vocab.txt --segmenter cat missing
	says missing
	exits 1 bert-tokenize --vocab vocab.txt --segmenter 'sed "20000s/un/nu/"' < <(yes un | head -n 30000)
	says "line 20000: the segmenter made 'nu' of 'un'"
}

# running PID: it is there, and no zombie that its parent leaves so.
running() { grep -q '^State:.[^Z]' "/proc/$1/status" 2>/dev/null; }

@test "a segmenter ends when we do" {
	small_vocab
	mkfifo pipe
	bert-tokenize --vocab vocab.txt --segmenter 'echo $$ >pid; exec cat' pipe >out 2>err 3>&- &
	local us=$! it
	exec 4<>pipe
	until [ -s pid ]; do running $us; done
	it=$(cat pid)
	running "$it"
	kill -TERM $us
	wait $us && status=0 || status=$?
	[ $status -eq 143 ]
	while running "$it"; do :; done
	exec 4>&-
	run -0 bash -c 'yes un | bert-tokenize --vocab vocab.txt --segmenter cat 2>err | head -n 1'
	[ "$output" = 5 ]
	[ ! -s err ]
}

@test "a segmenter is noted, and another one noticed" {
	small_vocab
	mkdir model
	mv vocab.txt model
	bert-tokenize --vocab model/vocab.txt --segmenter 'sed "s/un/un /"' --to docs -o docs.tok <<<unable
	grep -aqF '"segmenter":"sed \"s/un/un /\""' docs.tok
	[ "$(bert-cat docs.tok | jq -c .sentences)" = '[[5,8]]' ]
	bert-shard --vocab model/vocab.txt --shards 1 -o noted docs.tok
	jq -e '.recipe.tokenizer.segmenter == "sed \"s/un/un /\""' noted/manifest.json
	exits 1 bert-shard --vocab model/vocab.txt -o shards docs.tok <(echo unable)
	says 'segmenter is "sed \"s/un/un /\"", not absent'
	jq -n '{segmenter: "sed \"s/un/un /\""}' >model/tokenizer_config.json
	bert-shard --model model --shards 1 -o shards docs.tok
	bert-verify shards
	exits 2 bert-shard --model model --shards 1 -o other <(echo unable)
	says "the model takes texts that a segmenter has cut into words: 'sed \"s/un/un /\"'"
	exits 2 bert-tokenize --model model <<<unable
	says "the model takes texts that a segmenter has cut"
	exits 2 bert-tokenize --model model --segmenter cat <<<unable
	says "the texts of 'model' were cut into words by 'sed \"s/un/un /\"', not by 'cat'"
	[ "$(bert-tokenize --model model --segmenter 'sed "s/un/un /"' <<<unable)" = '5 8' ]
	[ "$(bert-tokenize --model model --segmenter '' <<<'un able')" = '5 8' ]
	[ "$(bert-tokenize --model model --decode <<<'5 8')" = 'un able' ]
	bert-tokenize --model model --segmenter '' --to docs <<<'un able' | bert-shard --model model --shards 1 -o said
	for bad in 7 '""' '"a\nb"' '["cat"]'; do
		echo "{\"segmenter\": $bad}" >model/tokenizer_config.json
		exits 3 bert-tokenize --model model
		says '"segmenter" is no command'
	done
	exits 2 bert-tokenize --vocab model/vocab.txt --segmenter cat --decode <<<5
	exits 2 bert-tokenize --vocab model/vocab.txt --segmenter $'cat\ncat' <<<un
}

@test "a model directory whose words another program cuts needs to know by which command" {
	japanese
	mkdir model
	mv v model/vocab.txt
	local config=model/tokenizer_config.json cut="$TOP/tests/cli/segmenter.pl" kind
	for kind in mecab sudachi jumanpp; do
		echo "{\"tokenizer_class\": \"BertJapaneseTokenizer\", \"word_tokenizer_type\": \"$kind\", \"subword_tokenizer_type\": \"wordpiece\"}" >$config
		exits 3 bert-tokenize --model model in
		says "cannot use '$config': \"word_tokenizer_type\" is \"$kind\"; put the command that cuts texts so there, as \"segmenter\""
		exits 3 bert-tokenize --model model --segmenter "$cut" in
	done
	jq --arg cut "$cut" '.segmenter = $cut' $config >with && mv with $config
	[ "$(bert-tokenize --model model --segmenter "$cut" in | head -n 1)" = '1 2 5' ]
	exits 2 bert-tokenize --model model in
	for kind in character sentencepiece; do
		echo "{\"word_tokenizer_type\": \"mecab\", \"subword_tokenizer_type\": \"$kind\", \"segmenter\": \"cat\"}" >$config
		exits 3 bert-tokenize --model model --segmenter cat in
		says "\"subword_tokenizer_type\" is \"$kind\""
	done
	echo '{"tokenizer_class": "BertJapaneseTokenizer", "word_tokenizer_type": "basic"}' >$config
	[ "$(bert-tokenize --model model --to tokens <<<'東京 タワー。')" = '東京 タワー [UNK]' ]
}

@test "options that do not go together" {
	small_vocab
	exits 2 bert-tokenize
	says "a vocabulary or a model directory"
	exits 2 bert-tokenize --vocab vocab.txt --offsets
	exits 2 bert-tokenize --vocab vocab.txt --add-special --to words
	exits 2 bert-tokenize --vocab vocab.txt --add-special --to docs
	exits 2 bert-tokenize --vocab vocab.txt --add-special --explain
	exits 2 bert-tokenize --vocab vocab.txt --explain --to tokens
	exits 2 bert-tokenize --vocab vocab.txt --compress 1
	exits 2 bert-tokenize --vocab vocab.txt --document-per-file
	exits 2 bert-tokenize --vocab vocab.txt --max-word 0
	exits 2 bert-tokenize --vocab vocab.txt --compat bert
	printf '[UNK]\n' >bare.txt
	exits 1 bert-tokenize --vocab bare.txt --add-special
	says "no [CLS]"
}

@test "token documents do not go to a terminal" {
	small_vocab
	command -v script >/dev/null || skip "no script(1)"
	run script -qec "bert-tokenize --vocab vocab.txt --to docs '$DATA/man/corpus.txt'" /dev/null
	says "terminal"
}

@test "bad vocabularies" {
	printf 'a\nb\n' >no-unk
	printf '[UNK]\na\xff\n' >bytes
	printf '[UNK]\na\0b\n' >nul
	: >empty
	exits 3 bert-tokenize --vocab no-unk
	says "'no-unk': it has no [UNK]"
	exits 3 bert-tokenize --vocab bytes
	says "'bytes': line 2 is not UTF-8"
	exits 3 bert-tokenize --vocab nul
	says "'nul': line 2 holds a NUL byte"
	exits 3 bert-tokenize --vocab empty
	says "'empty': it is empty"
	exits 1 bert-tokenize --vocab missing
	says "'missing'"
	exits 1 bert-tokenize --vocab .
	says "'.'"
}

@test "odd vocabularies: CRLF, spaces, blank lines, duplicates" {
	printf '[UNK]\r\n  un \r\n\r\nun\r\n##able\t\n' >v
	[ "$(echo unable | bert-tokenize --vocab v 2>err)" = '3 4' ]
	grep -q '1 blank line and 1 line that repeats an earlier one and takes its place' err
	[ "$(echo unable | bert-tokenize -q --vocab v 2>&1)" = '3 4' ]
	printf '[UNK]\nun\n\n\u3000\n\n' >v
	exits 0 bert-tokenize --vocab v <<<un
	says "has 3 blank lines"
	[[ "$output" != *repeat* ]]
}

@test "bad text: ill-formed bytes are counted, or refused" {
	small_vocab
	printf 'un\xffable un\xc3 \xe2\x82\n\xf8un\n' >bad
	bert-tokenize --vocab vocab.txt bad >out 2>err
	printf '5 6 5\n5\n' | diff - out
	grep -q 'ill-formed UTF-8 was replaced by U+FFFD in 4 places' err
	exits 3 bert-tokenize --vocab vocab.txt --strict bad -o out2
	says "bad"
	[ ! -e out2 ]
	exits 1 bert-tokenize --vocab vocab.txt missing
	says "missing"
}

@test "a byte-order mark, NUL bytes, a line begin 644 x" {
	small_vocab
	printf '\xef\xbb\xbfun\n' | bert-tokenize --vocab vocab.txt --to offsets >out
	echo 5:1:3 | diff - out
	printf 'un\0able\n' | bert-tokenize --vocab vocab.txt --to offsets >out
	echo 5:0:2 6:3:7 | diff - out
	printf 'begin 644 un\nun\nend\n' | bert-tokenize --vocab vocab.txt --to words >out
	printf 'begin 644 un\nun\nend\n' | diff - out
}

@test "packed input" {
	small_vocab
	for i in $(seq 1000); do echo unable; done >in
	bert-tokenize --vocab vocab.txt in >want
	gzip -k in && bzip2 -k in
	bert-tokenize --vocab vocab.txt in.gz | cmp want -
	bert-tokenize --vocab vocab.txt <in.bz2 | cmp want -
	head -c 40 in.gz >cut.gz
	exits 3 bert-tokenize --vocab vocab.txt cut.gz
	says "cut.gz"
}

@test "a line of 20 MB" {
	small_vocab
	head -c 21000000 < <(yes unable, | tr -d '\n') >in
	bert-tokenize --vocab vocab.txt in >out
	[ "$(wc -l <out)" -eq 1 ]
	tr ' ' '\n' <out | sort | uniq -c >counts
	printf '3000000 %d\n' 5 6 7 | diff -w - counts
}

@test "an output is whole or not there" {
	small_vocab
	exits 1 bert-tokenize --vocab vocab.txt -o nowhere/out "$DATA/man/corpus.txt"
	mkdir there
	exits 1 bert-tokenize --vocab vocab.txt -o there/out "$DATA/man/corpus.txt" missing
	nothing_in there
	exits 1 bert-tokenize --vocab vocab.txt --to docs -o there/out "$DATA/man/corpus.txt" missing
	nothing_in there
	exits 1 bash -c "bert-tokenize --vocab vocab.txt --to docs '$DATA/man/corpus.txt' >/dev/full"
}
