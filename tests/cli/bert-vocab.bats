# bert-vocab: a WordPiece vocabulary from text.

load helpers

@test "exact size, special tokens first, no token twice, none blank" {
	bert-vocab --size 400 "$DATA/man/corpus.txt" >vocab
	[ "$(wc -l <vocab)" -eq 400 ]
	[ "$(head -n 5 vocab | tr '\n' ' ')" = "[PAD] [UNK] [CLS] [SEP] [MASK] " ]
	[ -z "$(sort vocab | uniq -d)" ]
	[ "$(grep -c '^[^[:space:]]\+$' vocab)" -eq 400 ]
	bert-vocab --size 400 -o named "$DATA/man/corpus.txt"
	cmp vocab named
}

@test "the alphabet, then its ## forms, then merges" {
	printf 'ab ab abc b! b!\n' | bert-vocab --size 100 -q >vocab
	printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' '[MASK]' '!' a b c '##b' '##c' ab >want
	diff want vocab
	printf 'ab ab abc b! b!\n' | bert-vocab --size 100 --min-count 1 -q >vocab
	echo abc >>want
	diff want vocab
}

@test "topdown: what tensorflow-text's learner gives" {
	exits 0 bert-vocab --method topdown --size 300 -o vocab "$DATA/man/corpus.txt"
	says "128 tokens, not 300"
	cmp vocab "$DATA/vocab/topdown-300.txt"
	sort -R "$DATA/man/corpus.txt" | bert-vocab -q --threads 2 --method topdown --cased --size 600 --min-count 2 >vocab
	cmp vocab "$DATA/vocab/topdown-cased-600.txt"
	[ "$(bert-vocab --method topdown --min-count 4 --size 220 "$DATA/man/corpus.txt" 2>&1 | wc -l)" -eq 212 ]
}

@test "topdown: slots, a small alphabet, an initial one, words that are too long" {
	for i in 1 2 3 4 5 6; do echo 'ab abx ba'; done >in
	echo é >letters
	head -c 52 /dev/zero | tr '\0' q >>in
	bert-vocab -q --cased --method topdown --min-count 5 --size 100 --unused 2 --alphabet 3 --initial-alphabet letters -o vocab in
	[ "$(tr '\n' ' ' <vocab)" = "[PAD] [unused0] [unused1] [UNK] [CLS] [SEP] [MASK] a b é ab ba ##a ##b ##é " ]
	exits 0 bert-vocab -v --method topdown --size 100 -o vocab <(head -c 60 /dev/zero | tr '\0' q)
	[ "$(tr '\n' ' ' <vocab)" = "[PAD] [UNK] [CLS] [SEP] [MASK] " ]
	says "5 tokens, not 100"
}

@test "likelihood: what belongs together before what is frequent" {
	printf '%s\n' quit quit quota quota tea{,,,,,,,,} eat{,,,,,,,,} ate{,,,,,,,,} >in
	[ "$(bert-vocab --method likelihood --size 25 in | tail -n 7 | tr '\n' ' ')" = "qu qui quo te ea tea at " ]
	[ "$(bert-vocab -q --method likelihood --min-count 3 --size 25 in | sed -n '19p')" = qu ]
	bert-vocab --method likelihood --size 400 "$DATA/man/corpus.txt" >vocab
	[ "$(wc -l <vocab)" -eq 400 ]
	[ -z "$(sort vocab | uniq -d)" ]
	sort -R "$DATA/man/corpus.txt" | bert-vocab --threads 2 --method likelihood --size 400 | cmp - vocab
	bert-tokenize --vocab vocab --to tokens "$DATA/man/corpus.txt" >tokens
	[ "$(grep -cF '[UNK]' tokens)" -eq 0 ]
}

@test "--extend: slots, then new lines; all else keeps its place" {
	old=$DATA/vocab/bert-base-uncased.txt
	{ for i in 1 2 3; do echo 'Nosferatu szgany nosferatus'; done; cat "$DATA/man/corpus.txt"; } >in
	exits 0 bert-vocab -v --extend "$old" --add 3 --min-count 3 -o new in
	says "30522 tokens, 3 of them new, 3 in slots"
	[ "$(diff "$old" new | grep -c '^<')" -eq 3 ]
	[ "$(diff "$old" new | grep '^<' | head -n 1)" = "< [unused0]" ]
	sed -n '2,4p' new | grep -qx nosferatu
	grep -v unused "$old" | head -n 3000 >small
	bert-vocab -q --extend small --add 5 in >new
	cmp <(head -n "$(wc -l <small)" new) small
	[ "$(wc -l <new)" -eq $(($(wc -l <small) + 5)) ]
	bert-vocab -q --threads 3 --extend small --add 5 in | cmp - new
	bert-vocab -q --extend small --add 5 --method likelihood in >other
	[ "$(wc -l <other)" -eq "$(wc -l <new)" ]
	exits 0 bert-vocab --extend "$old" --add 3 --min-count 1000 -o new in
	says "only 0 tokens were added"
	cmp "$old" new
}

@test "--extend: characters that are wanted; what a vocabulary is refused for" {
	printf '[UNK]\na\n##a\n' >small
	[ "$(echo 'aα βα aα βα' | bert-vocab -q --extend small --add 2 | tr '\n' ' ')" = "[UNK] a ##a ##α β " ]
	exits 2 bert-vocab --extend small "$DATA/man/corpus.txt"
	exits 2 bert-vocab --add 3 --size 100 "$DATA/man/corpus.txt"
	exits 2 bert-vocab --extend small --add 0 "$DATA/man/corpus.txt"
	exits 2 bert-vocab --extend small --add 3 --size 100 "$DATA/man/corpus.txt"
	says "--size does not go with --extend"
	exits 2 bert-vocab --extend small --add 3 --method topdown "$DATA/man/corpus.txt"
	printf 'a\n##a\n' >none
	exits 3 bert-vocab --extend none --add 3 -o out "$DATA/man/corpus.txt"
	says "'none': it has no [UNK]"
	printf '[UNK]\na\nb\0\n' >nul
	exits 3 bert-vocab --extend nul --add 3 -o out "$DATA/man/corpus.txt"
	says "line 3 holds a NUL byte"
	printf '[UNK]\r\na\r\n\r\na\n##a' >odd
	exits 0 bert-vocab --extend odd --add 1 -o out <(echo aa aa)
	says "'odd' has 1 blank line and 1 line that repeats an earlier one"
	[ "$(tr '\n' ' ' <out)" = "[UNK] a  a ##a aa " ]
	[ ! -e none.out ]
	exits 1 bert-vocab --extend /nonexistent/vocab --add 3 "$DATA/man/corpus.txt"
}

@test "--report: what the tokenizer makes of the texts" {
	old=$DATA/vocab/bert-base-uncased.txt
	bert-vocab --size 400 -o vocab --report report --beside "$old" --heldout "$DATA/man/novel.txt" --heldout "$DATA/man/paragraphs.txt" "$DATA/man/corpus.txt"
	bert-vocab --size 400 "$DATA/man/corpus.txt" | cmp - vocab
	[ "$(jq -r '.method, .tokens, .beside' report | tr '\n' ' ')" = "bpe 400 $old " ]
	field() { jq "$1" report; }
	for v in "vocab vocabulary" "$old beside"; do
		set -- $v
		bert-tokenize --vocab "$1" --to tokens "$DATA/man/corpus.txt" | tr -s ' \n' '\n\n' | grep . >text
		bert-tokenize --vocab "$1" --to tokens "$DATA/man/novel.txt" "$DATA/man/paragraphs.txt" | tr -s ' \n' '\n\n' | grep . >held
		[ "$(field ".text.$2.tokens")" -eq "$(wc -l <text)" ]
		[ "$(field ".text.$2.tokens_used")" -eq "$(sort -u text | wc -l)" ]
		[ "$(field ".heldout.$2.tokens")" -eq "$(wc -l <held)" ]
		[ "$(field ".heldout.$2.unknown_words")" -eq "$(grep -cxF '[UNK]' held)" ]
	done
	[ "$(field .text.words)" -eq "$(bert-tokenize --vocab vocab --to words "$DATA/man/corpus.txt" | wc -w)" ]
	jq -e '(.heldout.vocabulary | .tokens / .unknown_words > 1) and (.heldout.vocabulary.tokens_per_word - .heldout.vocabulary.tokens / .heldout.words | fabs) < 1e-4' report
	bert-vocab -q --method topdown --size 400 -o vocab --report - "$DATA/man/corpus.txt" | jq -e '.method == "topdown" and (has("heldout") or has("beside") | not)'
}

@test "--report: what is refused, and that nothing is left then" {
	exits 2 bert-vocab --size 400 --heldout "$DATA/man/novel.txt" "$DATA/man/corpus.txt"
	exits 2 bert-vocab --size 400 --beside "$DATA/man/vocab.txt" "$DATA/man/corpus.txt"
	exits 2 bert-vocab --size 400 --report - "$DATA/man/corpus.txt"
	exits 2 bert-vocab --size 400 -o one --report one "$DATA/man/corpus.txt"
	[ ! -e one ]
	exits 1 bert-vocab --size 400 -o vocab --report report --heldout /dev/null "$DATA/man/corpus.txt"
	says "held-out text: no words were found"
	exits 1 bert-vocab --size 400 -o vocab --report report --heldout /nonexistent/file "$DATA/man/corpus.txt"
	exits 3 bert-vocab --size 400 -o vocab --report report --beside /dev/null "$DATA/man/corpus.txt"
	exits 1 bert-vocab --size 400 -o vocab --report /dev/full "$DATA/man/corpus.txt"
	nothing_in "$BATS_TEST_TMPDIR"
}

@test "--unused gives BERT's own numbers" {
	bert-vocab --size 400 --unused 99 "$DATA/man/corpus.txt" >vocab
	[ "$(wc -l <vocab)" -eq 400 ]
	[ "$(sed -n '1p;2p;100p;101p;102p;103p;104p' vocab | tr '\n' ' ')" = "[PAD] [unused0] [unused98] [UNK] [CLS] [SEP] [MASK] " ]
	bert-vocab --size 301 "$DATA/man/corpus.txt" | cmp - <(grep -v unused vocab)
}

@test "case and accents" {
	printf 'Été été\n' >in
	[ "$(bert-vocab -q --size 50 in | tail -n +6 | tr '\n' ' ')" = "e t ##e ##t et ete " ]
	[ "$(bert-vocab -q --cased --size 50 in | tail -n +6 | tr '\n' ' ')" = "t É é ##t ##é ##té " ]
}

# Vietnamese, Korean and Hindi, whose marks are letters; Chinese words of several characters, set apart already.
many_marks() { yes $'Đất nước Việt Nam, tiếng Việt\n대한민국의 모든 국민\nसभी मनुष्यों को गौरव\n东京 大学 东京 大学' | head -n 12; }

@test "the switches of bert-tokenize: with the same ones its own text has no [UNK]" {
	many_marks >in
	for switches in '' '--cased' '--strip-accents no' '--strip-accents no --split-cjk no' '--lower no --strip-accents yes' \
		'--cased --strip-accents no --unicode 15.0' '--lower yes --split-cjk yes --unicode 14.0'; do
		for method in bpe topdown likelihood; do
			bert-vocab -q $switches --method $method --size 400 in >vocab
			bert-tokenize $switches --vocab vocab --to tokens in >tokens
			[ "$(wc -l <tokens)" -eq 12 ]
			[ "$(grep -cF '[UNK]' tokens)" -eq 0 ]
		done
	done
	# they do something: words that are tokens, in the form that the switches give them
	bert-vocab -q --strip-accents no --split-cjk no --size 400 in >vocab
	for word in việt đất 국민 गौरव 东京; do grep -qx "$word" vocab; done
	bert-vocab -q --lower no --strip-accents yes --size 400 in >vocab
	for word in Viet Nam 东; do grep -qx "$word" vocab; done
	[ "$(grep -cE 'ệ|东京' vocab)" -eq 0 ]
	bert-vocab -q --lower no --size 400 in | cmp - <(bert-vocab -q --cased --size 400 in)
}

@test "the switches with --extend, --initial-alphabet and --report" {
	many_marks >in
	printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' '[MASK]' >small
	bert-vocab -q --strip-accents no --split-cjk no --extend small --add 300 -o vocab --report report --heldout in in
	[ "$(bert-tokenize --strip-accents no --split-cjk no --vocab vocab --to tokens in | grep -cF '[UNK]')" -eq 0 ]
	jq -e '.cased == false and .strip_accents == false and .cjk == false and .unicode == "14.0"' report
	[ "$(jq .text.vocabulary.unknown_words report)$(jq .heldout.vocabulary.unknown_words report)" = 00 ]
	[ "$(jq .heldout.words report)" -eq "$(bert-tokenize --strip-accents no --split-cjk no --vocab vocab --to words in | wc -w)" ]
	bert-vocab -q --unicode 15.0 --lower no --size 400 -o vocab --report - in | jq -e '.cased and (.strip_accents | not) and .cjk and .unicode == "15.0"'
	echo Ệ >letters
	bert-vocab -q --strip-accents no --initial-alphabet letters --size 100 <(echo ab) | grep -qx ệ
	[ "$(bert-vocab -q --initial-alphabet letters --size 100 <(echo ab) | grep -c ệ)" -eq 0 ]
}

@test "text that a segmenter has cut is piped in" {
	local cut='sed "s/大学/ 大学 /g; s/东京/ 东京 /g"'
	yes 东京大学 | head -n 3 >in
	bash -c "$cut" <in | bert-vocab -q --split-cjk no --size 400 >vocab
	[ "$(bert-tokenize --vocab vocab --split-cjk no --segmenter "$cut" --to tokens in | sort -u)" = "东京 大学" ]
}

@test "threads, order and division of the input play no part" {
	bert-vocab --threads 1 --size 400 "$DATA/man/corpus.txt" >one
	bert-vocab --threads 2 --size 400 "$DATA/man/corpus.txt" | cmp - one
	sort -R "$DATA/man/corpus.txt" >mixed
	split -n l/3 mixed part.
	gzip part.ab
	bert-vocab --threads 3 --size 400 part.ac part.ab.gz part.aa | cmp - one
	bert-vocab --size 400 <mixed | cmp - one
	tr '\n' ' ' <mixed | bert-vocab --size 400 | cmp - one
}

@test "its own text has no [UNK]" {
	bert-vocab --size 300 -o vocab "$DATA/man/corpus.txt"
	bert-tokenize --vocab vocab --to tokens "$DATA/man/corpus.txt" >tokens
	[ -s tokens ]
	[ "$(grep -cF '[UNK]' tokens)" -eq 0 ]
}

@test "a small alphabet leaves rare characters out" {
	printf 'aaab aaab\n%s\n' 'xyz' >in
	[ "$(bert-vocab -q --size 50 --alphabet 2 in | tail -n +6 | tr '\n' ' ')" = "a b ##a ##b aa ##ab aaab " ]
	exits 0 bert-vocab -v --size 50 --alphabet 2 in
	says "3 others left out, which occur 3 times"
}

@test "an initial alphabet is kept" {
	printf 'Αβγ\n' >greek
	echo 'some words' | bert-vocab -q --size 100 --alphabet 3 --initial-alphabet greek >vocab
	for c in α β γ; do grep -qx "$c" vocab; done
	[ "$(tail -n +6 vocab | grep -vc '##')" -eq 3 ]
	exits 1 bert-vocab --size 100 --initial-alphabet /nonexistent/file "$DATA/man/corpus.txt"
	says "/nonexistent/file"
}

@test "a size below special tokens and characters: the least is named" {
	exits 1 bert-vocab --size 20 -o vocab "$DATA/man/corpus.txt"
	least=$(grep -oE 'alone are [0-9]+' <<<"$output" | grep -oE '[0-9]+')
	[ ! -e vocab ]
	exits 1 bert-vocab --size $((least - 1)) "$DATA/man/corpus.txt"
	bert-vocab --size "$least" -o vocab "$DATA/man/corpus.txt"
	[ "$(wc -l <vocab)" -eq "$least" ]
	[ -z "$(tail -n +6 vocab | grep -vE '^(##)?.$')" ]
}

@test "a text too small for the size: fewer tokens and a warning" {
	exits 0 bash -c 'echo one two two | bert-vocab --size 1000 -o vocab'
	says "only 16 tokens could be learnt: no other pair occurs 2 times"
	[ "$(wc -l <vocab)" -eq 16 ]
}

@test "no words: failure, and no file" {
	exits 1 bert-vocab --size 100 -o vocab /dev/null
	says "no words were found"
	[ ! -e vocab ]
	printf '\n \n\xe2\x80\x8b\n' >blank
	exits 1 bert-vocab --size 100 blank
	says "no words were found"
}

@test "usage errors" {
	exits 2 bert-vocab "$DATA/man/corpus.txt"
	says "give one with --size"
	exits 2 bert-vocab --size 3 "$DATA/man/corpus.txt"
	exits 2 bert-vocab --size 100 --method unigram "$DATA/man/corpus.txt"
	says "bpe|topdown|likelihood"
	exits 2 bert-vocab --size 100 --cased --lower yes "$DATA/man/corpus.txt"
	says "cased text is not lower-cased"
	exits 2 bert-vocab --size 100 --strip-accents maybe "$DATA/man/corpus.txt"
	says "auto|yes|no"
	exits 2 bert-vocab --size 100 --unicode 3.2 -o vocab "$DATA/man/corpus.txt"
	[ ! -e vocab ]
	exits 2 bert-vocab --size 100 --memory 1M "$DATA/man/corpus.txt"
	exits 2 bert-vocab --size 100 --min-count 0 "$DATA/man/corpus.txt"
}

@test "little memory: the rarest words go, and the cut is told" {
	seq 1 150000 | sed 's/$/ the then them/' >in
	bert-vocab --size 100 in >much 2>err
	[ ! -s err ]
	exits 0 bert-vocab --size 100 --min-count 2 --memory 16M -o little in
	says "words that occur 1 times or less were dropped: 150000 of 150003"
	bert-vocab -q --threads 3 --size 100 --memory 16M in 2>err | cmp - little
	[ ! -s err ]
	grep -qx them little
	[ -n "$(comm -3 <(sort much) <(sort little))" ]
}

@test "bad UTF-8, NUL bytes, CRLF, a word without end" {
	printf 'caf\xff\xc3\xa9\r\nca\0f\r\n' >in
	exits 0 bert-vocab --size 50 -o vocab in
	says "replaced by U+FFFD in 1 place, in 'in' at byte 3"
	[ "$(sed -n '6,$p' vocab | tr '\n' ' ')" = "a c e f ##a ##e ##f ca caf " ]
	exits 3 bert-vocab --strict --size 50 in
	says "'in'"
	{ head -c 5000000 /dev/zero | tr '\0' 'x'; echo ' word word'; } >long
	exits 0 bert-vocab -v --size 50 -o vocab long
	says "1 of more than 200 characters were passed over"
	grep -qx word vocab
	[ "$(grep -c x vocab)" -eq 0 ]
}

@test "ill-formed UTF-8 of every kind is replaced and counted, or named" {
	# overlong, a surrogate, beyond U+10FFFF, five bytes, cut short, a lone continuation: U+FFFD is dropped, so the halves join
	for bad in '\xc0\xaf' '\xed\xa0\x80' '\xf4\x90\x80\x80' '\xf8\x88\x80\x80\x80' '\xe2\x82' '\x80'; do
		printf "ab${bad}cd abcd\n" >in
		exits 0 bert-vocab --cased --size 100 -o vocab in
		says "in 'in' at byte 2"
		[ "$(tail -n 1 vocab)" = abcd ]
		exits 3 bert-vocab --cased --strict --size 100 -o other in
		says "'in'"
		[ ! -e other ]
	done
}

@test "a vocabulary with too many lines, or a byte-order mark" {
	{ echo '[UNK]'; head -c 16777214 /dev/zero | tr '\0' '\n'; } >many
	exits 3 bert-vocab --extend many --add 1 "$DATA/man/corpus.txt"
	says "'many': it has more than 16777214 lines"
	exits 3 bash -c "bert-vocab --extend <(yes) --add 1 '$DATA/man/corpus.txt'"
	says "longer than 268435456 bytes"
	printf '\xef\xbb\xbf[PAD]\n[UNK]\na\n##a\n' >marked
	exits 0 bert-vocab --extend marked --add 1 -o out <(echo aa aa)
	says "'marked' has a byte-order mark, which is part of its first token"
	cmp <(head -n 4 out) marked
}

@test "an output that fails leaves nothing" {
	exits 1 bert-vocab --size 300 -o vocab "$DATA/man/corpus.txt" /nonexistent/file
	[ ! -e vocab ]
	nothing_in "$BATS_TEST_TMPDIR"
	exits 1 bert-vocab --size 300 -o /dev/full "$DATA/man/corpus.txt"
}

@test "JSON lines: the words of their texts alone" {
	jq -Rsc 'rtrimstr("\n\n") | split("\n\n") | to_entries[] | {id: .key, title: "Xyzzy", text: .value, more: [{text: 1}]}' "$DATA/man/corpus.txt" >in.jsonl
	bert-vocab --size 400 -o text --report t.json --heldout "$DATA/man/novel.txt" "$DATA/man/corpus.txt"
	jq -Rsc '{text: .}' "$DATA/man/novel.txt" >novel.jsonl
	for threads in 1 3; do
		bert-vocab --threads "$threads" --from jsonl --size 400 -o json --report j.json --heldout novel.jsonl in.jsonl
		cmp text json
		cmp t.json j.json
	done
	exits 2 bert-vocab --size 400 in.jsonl
	says "'in.jsonl' looks like JSON lines: give --from jsonl, or --from text"
	bert-vocab -q --from text --size 400 in.jsonl | grep -qx text
	exits 3 bert-vocab --from jsonl --size 400 "$DATA/man/corpus.txt"
	says "line 1: not JSON"
	exits 1 bert-vocab --from jsonl --size 400 - <<<'{"text": " \n"}'
	says "no words were found"
	exits 0 bert-vocab --from jsonl --min-count 1 --size 50 -o v - <<<'{"text": "a\ud800 b"}'
	says "lone halves of surrogate pairs were replaced by U+FFFD in 1 place"
	exits 3 bert-vocab --strict --from jsonl --size 50 - <<<'{"text": "a\ud800 b"}'
	says "half of a surrogate pair stands alone"
}
